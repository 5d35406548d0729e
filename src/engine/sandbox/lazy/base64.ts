import atob from 'core-js-pure/actual/atob.js';
import btoa from 'core-js-pure/actual/btoa.js';
import { supply } from './supply.js';

supply({ atob, btoa });
