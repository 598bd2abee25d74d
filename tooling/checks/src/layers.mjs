/**
 * The allowed imports of each package. A package without a row is a problem.
 *
 * `imports`: the siblings that it may import. `dependencies`: its allowed dependencies, each with a page in
 * docs/decisions. `portable`: the entry points that must run without Node. `without`: modules that an entry point must
 * not import, even indirectly, because they slow down a cold start or enlarge a bundle.
 * @typedef {{ imports: readonly string[], dependencies: readonly string[], portable: readonly string[], without?: {
 *   readonly [entry: string]: readonly string[] }, }} Layer
 * @type {ReadonlyMap<string, Layer>}
 */
export const layers = new Map([
  ['@x/core', { imports: [], dependencies: ['@redis/client', 'pg'], portable: ['.', './redis', './postgres'] }],
  [
    '@x/schema',
    {
      imports: ['@x/core'],
      dependencies: ['zod', '@cfworker/json-schema'],
      portable: ['.', './zod', './shapes', './json-schema'],
      without: {
        '.': ['zod', '@cfworker/json-schema'],
        './shapes': ['zod', '@cfworker/json-schema'],
        './json-schema': ['zod'],
      },
    },
  ],
  [
    '@x/exchange',
    {
      imports: ['@x/core', '@x/schema'],
      dependencies: [],
      portable: ['.'],
      without: { '.': ['zod', '@cfworker/json-schema'] },
    },
  ],
  [
    '@x/state-codec',
    { imports: ['@x/core'], dependencies: ['@redis/client', 'pg'], portable: ['.', './redis', './postgres'] },
  ],
  [
    '@x/server',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec'],
      dependencies: ['@opentelemetry/api', '@standard-schema/spec', 'ajv', '@redis/client', 'pg'],
      portable: ['.', './ajv', './inspect', './log', './otel', './redis', './postgres'],
      without: {
        './inspect': ['zod', '@opentelemetry/api'],
        '.': ['zod', 'ajv', '@redis/client', 'pg', '@opentelemetry/api'],
        './log': ['zod', '@opentelemetry/api'],
        './otel': ['zod'],
      },
    },
  ],
  [
    '@x/client',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema'],
      dependencies: ['@opentelemetry/api'],
      portable: ['.', './forms', './models', './otel'],
      without: {
        '.': ['zod', '@opentelemetry/api'],
        './forms': ['zod'],
        './models': ['zod', '@opentelemetry/api'],
      },
    },
  ],
  [
    '@x/transport-http',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema'],
      dependencies: ['undici', 'eventsource-parser'],
      portable: ['.', './client'],
      without: {
        '.': ['zod', 'eventsource-parser'],
        './node': ['zod', 'undici'],
        './lambda': ['zod', 'undici', 'eventsource-parser'],
        './client': ['zod'],
      },
    },
  ],
  // This package requires Node: it uses streams, processes and signals.
  [
    '@x/transport-stdio',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema'],
      dependencies: ['cross-spawn'],
      portable: [],
      without: { '.': ['zod'] },
    },
  ],
  [
    '@x/tasks',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/server', '@x/client'],
      dependencies: ['@electric-sql/pglite', '@redis/client', 'pg', 'zod'],
      portable: ['.', './zod', './memory', './client'],
      without: { '.': ['zod', '@x/server'], './memory': ['zod', '@x/server'], './client': ['zod', '@x/server'] },
    },
  ],
  [
    '@x/sessions',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec', '@x/client'],
      dependencies: ['@standard-schema/spec'],
      portable: ['./server', './client'],
      without: { './server': ['zod', '@x/client'] },
    },
  ],
  [
    '@x/apps',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/server'],
      dependencies: [],
      portable: ['./server', './host'],
      without: { './host': ['zod', '@x/server'] },
    },
  ],
  [
    '@x/skills',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/client'],
      dependencies: ['yaml'],
      portable: ['./server', './client'],
      without: { './server': ['zod', '@x/client'] },
    },
  ],
  [
    '@x/openapi',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/server'],
      dependencies: ['yaml'],
      portable: ['.'],
      without: { '.': ['zod', 'yaml'] },
    },
  ],
  [
    '@x/legacy',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec', '@x/transport-http', '@x/transport-stdio'],
      dependencies: [],
      portable: ['./server', './client'],
      without: {
        './server': ['zod', '@x/transport-http', '@x/transport-stdio'],
        './client': ['zod', '@x/transport-stdio', '@x/state-codec'],
      },
    },
  ],
  [
    '@x/auth',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec', '@x/transport-http'],
      dependencies: ['jose', 'oauth4webapi'],
      portable: ['./client', './login', './server'],
      without: { './client': ['zod', 'undici', '@x/state-codec'], './server': ['zod', '@x/state-codec'] },
    },
  ],
  [
    '@x/gateway',
    {
      imports: [
        '@x/core',
        '@x/exchange',
        '@x/schema',
        '@x/state-codec',
        '@x/auth',
        '@x/legacy',
        '@x/openapi',
        '@x/server',
        '@x/transport-http',
        '@x/transport-stdio',
      ],
      dependencies: ['@redis/client', 'zod'],
      portable: ['.'],
      without: { '.': ['zod', '@redis/client', '@x/auth', '@x/legacy', '@x/transport-http', '@x/transport-stdio'] },
    },
  ],
  // A program, and the prompts for programs at a terminal.
  [
    '@x/cli',
    {
      imports: [
        '@x/auth',
        '@x/client',
        '@x/core',
        '@x/exchange',
        '@x/gateway',
        '@x/legacy',
        '@x/openapi',
        '@x/schema',
        '@x/server',
        '@x/state-codec',
        '@x/tasks',
        '@x/transport-http',
        '@x/transport-stdio',
      ],
      dependencies: [
        '@clack/prompts',
        '@opentelemetry/api',
        '@opentelemetry/sdk-node',
        'chokidar',
        'commander',
        'eventsource-parser',
      ],
      portable: [],
      without: { './terminal': ['zod', 'commander'] },
    },
  ],
  [
    '@x/testing',
    {
      imports: ['@x/core', '@x/exchange', '@x/schema', '@x/server', '@x/client'],
      dependencies: [],
      portable: ['.'],
      without: { '.': ['zod'] },
    },
  ],
])
