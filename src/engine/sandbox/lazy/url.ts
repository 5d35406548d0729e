import URL from 'core-js-pure/actual/url/index.js';
import URLSearchParams from 'core-js-pure/actual/url-search-params/index.js';
import { supply } from './supply.js';

supply({ URL, URLSearchParams });
