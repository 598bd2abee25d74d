/**
 * The packages from the lowest level to the highest. A package imports only those of lower levels, so servers, clients
 * and transports never import one another: an application combines them.
 * @type {readonly string[]}
 */
export const levels = [
  'core',
  'schema state-codec',
  'exchange',
  'server client transport-http transport-stdio',
  'tasks sessions apps skills openapi legacy auth testing',
  'gateway',
  'cli',
]

/** The entries that require Node, and packages of which each entry does. So do entries called `./node`. */
export const nodeEntries = new Set([
  '@x/cli',
  '@x/tasks/admin',
  '@x/tasks/pglite',
  '@x/tasks/postgres',
  '@x/tasks/redis',
  '@x/tasks/server',
  '@x/tasks/testing',
  '@x/transport-http/lambda',
  '@x/transport-stdio',
])

/**
 * Modules that slow down a cold start or enlarge a bundle, with the entries that load them. No other entry may, even
 * indirectly, except those of a package whose every entry requires Node.
 * @type {Readonly<Record<string, string>>}
 */
export const heavyModules = {
  '@cfworker/json-schema':
    '@x/apps/server @x/gateway/node @x/openapi @x/schema/json-schema @x/server @x/testing @x/testing/node',
  '@opentelemetry/api': '@x/client/otel @x/server/otel',
  '@redis/client':
    '@x/core/redis @x/gateway/node @x/server/redis @x/state-codec/redis @x/tasks/admin @x/tasks/redis @x/tasks/server',
  ajv: '',
  'eventsource-parser': '@x/gateway/node @x/legacy/client @x/transport-http/client',
  minisearch: '@x/exchange/tool-search @x/gateway/node @x/gateway/tool-search @x/server/tool-search',
  pg: '@x/core/postgres @x/server/postgres @x/state-codec/postgres @x/tasks/admin @x/tasks/pglite @x/tasks/postgres @x/tasks/server',
  undici: '',
  yaml: '@x/gateway/node @x/openapi/node @x/skills/client @x/skills/server',
  zod: '@x/gateway/node @x/schema/zod @x/tasks/zod',
}

/**
 * Packages that an entry must not load, although its package may, with these entries.
 * @type {Readonly<Record<string, string>>}
 */
export const unloadedPackages = {
  '@x/auth': '@x/gateway',
  '@x/client': '@x/sessions/server @x/skills/server',
  '@x/legacy': '@x/gateway',
  '@x/server': '@x/apps/host @x/tasks @x/tasks/client @x/tasks/memory',
  '@x/state-codec': '@x/auth/client @x/auth/server @x/legacy/client',
  '@x/transport-http': '@x/gateway @x/legacy',
  '@x/transport-stdio': '@x/gateway @x/legacy @x/legacy/client',
}

/**
 * The folders and files of a package from the highest layer to the lowest: an import points down. `.` is `src`. A nested
 * folder or a file that is listed has its own layer.
 * @type {Readonly<Record<string, string>>}
 */
export const folderLayers = {
  server: '. telemetry methods replay compile definitions elicitation subscriptions shedding json-schema request',
  client: '. telemetry extensions client.ts models rounds tools subscriptions caching forms request',
  legacy:
    '. server server/stdio server/http server/call server/session client client/http client/stdio ' +
    'client/connection client/calls client/options.ts client/target.ts translate',
  core:
    '. bus outage-log.ts unavailable.ts ledger.ts import-peer-dependency.ts log.ts callback.ts waiting.ts cancellation.ts ' +
    'checked-number.ts json.ts quote-text.ts runtime.ts thrown.ts',
  schema:
    '. methods transports messages json-schema server patterns client server/tools.ts ' +
    'basic/content.ts server/resources.ts basic',
  exchange: '. search composition server transports telemetry errors call',
  'state-codec': '. store token envelope state-codec.ts state-error.ts',
  auth: '. node login client server scopes.ts bounded-fetch.ts oauth-urls.ts client-secret.ts digest.ts',
  'transport-http': '. node lambda server client indexed-list.ts',
  'transport-stdio':
    '. server client close-streams.ts read-lines.ts line-splitter.ts message-writer.ts ' +
    'request-notifications.ts stdio-error.ts',
  sessions: '. server client session-error.ts session-metadata.ts',
  cli:
    '. commands completion dev dev/api dev/calls dev/target dev/wire dev/event-log.ts dev/events.ts ' +
    'dev/wire/fault.ts doctor gateway calls publish doctor/check.ts doctor/http-probe.ts openapi ' +
    'init tasks state keys command.ts output terminal json-option.ts cli-io.ts cli-error.ts ' +
    'package-root.ts',
  skills: '. node client server wire skill-error.ts',
  openapi: '. call plan document',
  apps: '. host page-policy.ts identifiers.ts',
  gateway: 'index.ts node.ts config . gateway upstream hop names',
  tasks: '. contract server client engines schema',
}
