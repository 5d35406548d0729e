import structuredClone from 'core-js-pure/actual/structured-clone.js';
import { supply } from './supply.js';

supply({ structuredClone });
