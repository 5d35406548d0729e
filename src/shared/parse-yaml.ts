/** A module of its own, so that it can be loaded lazily from the build as well: there a package in CommonJS has no names. */
export { parse as parseYaml, parseDocument, stringify as writeYaml } from 'yaml';
