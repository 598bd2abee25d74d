/**
 * What each package may reach. A package that has no row here fails the check of borders.
 *
 * `imports`: the siblings that it may import. `dependencies`: what it may install, each with a page in docs/decisions.
 * `portable`: the entry points that must run without Node. `without`: what an entry point must not reach even through
 * others, because a cold start or a bundle would pay for it.
 * @typedef {{
 *   imports: readonly string[], dependencies: readonly string[], portable: readonly string[],
 *   without?: { readonly [entry: string]: readonly string[] },
 * }} Layer
 * @type {ReadonlyMap<string, Layer>}
 */
export const layers = new Map([
  [
    '@x/schema',
    {
      imports: [],
      dependencies: ['zod', '@cfworker/json-schema'],
      portable: ['.', './zod', './json-schema'],
      without: { '.': ['zod', '@cfworker/json-schema'], './json-schema': ['zod'] },
    },
  ],
  [
    '@x/state-codec',
    { imports: [], dependencies: ['jose', '@redis/client', 'pg'], portable: ['.', './redis', './postgres'] },
  ],
  [
    '@x/server',
    {
      imports: ['@x/schema', '@x/state-codec'],
      dependencies: ['@standard-schema/spec', 'ajv', '@redis/client', 'pg'],
      portable: ['.', './ajv', './redis', './postgres'],
      without: { '.': ['zod', 'ajv', '@redis/client', 'pg'] },
    },
  ],
  ['@x/client', { imports: ['@x/schema'], dependencies: [], portable: ['.'], without: { '.': ['zod'] } }],
  [
    '@x/transport-http',
    {
      imports: ['@x/schema'],
      dependencies: ['undici', 'eventsource-parser'],
      portable: ['.', './client'],
      without: { '.': ['zod', 'eventsource-parser'], './node': ['zod', 'undici'], './client': ['zod'] },
    },
  ],
  // It is Node's whole: streams, processes and signals.
  [
    '@x/transport-stdio',
    { imports: ['@x/schema'], dependencies: ['cross-spawn'], portable: [], without: { '.': ['zod'] } },
  ],
  [
    '@x/tasks',
    {
      imports: ['@x/schema', '@x/server', '@x/client'],
      dependencies: ['@electric-sql/pglite', 'pg', 'pg-boss', 'zod'],
      portable: ['.', './zod', './memory', './client'],
      without: { '.': ['zod', '@x/server'], './memory': ['zod', '@x/server'], './client': ['@x/server'] },
    },
  ],
  [
    '@x/sessions',
    {
      imports: ['@x/schema', '@x/state-codec', '@x/client'],
      dependencies: ['@standard-schema/spec'],
      portable: ['./server', './client'],
      without: { './server': ['zod', '@x/client'] },
    },
  ],
])
