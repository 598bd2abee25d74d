import { dirname, join, resolve } from 'node:path'
import { importsOf, parseSource } from './imports.mjs'
import { problem } from './report.mjs'

/**
 * The folders of a package in the order of their layers, the highest first. '.' is `src`. An import points from a layer
 * to a lower one. A nested folder or a file with a row has its own layer. `upward` is the number of allowed imports
 * against the order.
 * @typedef {{ order: readonly string[], upward: number }} FolderLayers
 * @type {ReadonlyMap<string, FolderLayers>}
 */
export const folderLayers = new Map([
  [
    'packages/server',
    {
      order: [
        '.',
        'telemetry',
        'methods',
        'replay',
        'compile',
        'definitions',
        'elicitation',
        'subscriptions',
        'shedding',
        'json-schema',
        'request',
      ],
      upward: 0,
    },
  ],
  [
    'packages/client',
    {
      order: [
        '.',
        'telemetry',
        'extensions',
        'client.ts',
        'models',
        'rounds',
        'tools',
        'subscriptions',
        'caching',
        'forms',
        'request',
      ],
      upward: 0,
    },
  ],
  [
    'packages/legacy',
    {
      order: [
        '.',
        'server',
        'server/stdio',
        'server/http',
        'server/call',
        'server/session',
        'client',
        'client/http',
        'client/stdio',
        'client/connection',
        'client/calls',
        'client/options.ts',
        'client/target.ts',
        'translate',
      ],
      upward: 0,
    },
  ],
  [
    'packages/core',
    {
      order: [
        '.',
        'bus',
        'ledger.ts',
        'import-peer-dependency.ts',
        'log.ts',
        'callback.ts',
        'waiting.ts',
        'cancellation.ts',
        'checked-number.ts',
        'json.ts',
        'import-peer-dependency.ts',
        'quote-text.ts',
        'runtime.ts',
      ],
      upward: 0,
    },
  ],
  [
    'packages/schema',
    {
      order: [
        '.',
        'methods',
        'transports',
        'messages',
        'json-schema',
        'server',
        'patterns',
        'client',
        'server/tools.ts',
        'basic/content.ts',
        'server/resources.ts',
        'basic',
      ],
      upward: 0,
    },
  ],
  [
    'packages/exchange',
    { order: ['.', 'composition', 'server', 'transports', 'telemetry', 'errors', 'call'], upward: 0 },
  ],
  [
    'packages/state-codec',
    { order: ['.', 'store', 'token', 'envelope', 'state-codec.ts', 'state-error.ts'], upward: 0 },
  ],
  [
    'packages/auth',
    {
      order: ['.', 'node', 'login', 'client', 'server', 'scopes.ts', 'bounded-fetch.ts', 'oauth-urls.ts', 'digest.ts'],
      upward: 0,
    },
  ],
  ['packages/transport-http', { order: ['.', 'node', 'lambda', 'server', 'client', 'indexed-list.ts'], upward: 0 }],
  [
    'packages/transport-stdio',
    {
      order: [
        '.',
        'server',
        'client',
        'close-streams.ts',
        'read-lines.ts',
        'line-splitter.ts',
        'message-writer.ts',
        'request-notifications.ts',
        'stdio-error.ts',
      ],
      upward: 0,
    },
  ],
  ['packages/sessions', { order: ['.', 'server', 'client', 'session-error.ts', 'session-metadata.ts'], upward: 0 }],
  [
    'packages/cli',
    {
      order: [
        '.',
        'commands',
        'completion',
        'dev',
        'dev/api',
        'dev/calls',
        'dev/target',
        'dev/wire',
        'dev/event-log.ts',
        'dev/events.ts',
        'dev/wire/fault.ts',
        'doctor',
        'calls',
        'publish',
        'doctor/check.ts',
        'doctor/http-probe.ts',
        'gateway',
        'openapi',
        'init',
        'tasks',
        'state',
        'keys',
        'command.ts',
        'output',
        'terminal',
        'json-option.ts',
        'cli-io.ts',
        'cli-error.ts',
        'package-root.ts',
      ],
      upward: 0,
    },
  ],
  ['packages/skills', { order: ['.', 'node', 'client', 'server', 'wire', 'skill-error.ts'], upward: 0 }],
  ['packages/openapi', { order: ['.', 'call', 'plan', 'document'], upward: 0 }],
  ['packages/apps', { order: ['.', 'host', 'page-policy.ts', 'identifiers.ts'], upward: 0 }],
  [
    'packages/gateway',
    {
      order: ['index.ts', 'node.ts', 'config', '.', 'gateway', 'upstream', 'hop', 'names'],
      upward: 0,
    },
  ],
  ['packages/testing', { order: ['.'], upward: 0 }],
  ['packages/tasks', { order: ['.', 'contract', 'server', 'client', 'engines', 'schema'], upward: 0 }],
])

/**
 * Lists the imports of a package that point to a higher layer or to a folder without a row.
 * @param {string} root
 * @param {string} folder Such as `packages/server`.
 * @param {{ files: readonly string[], layers?: ReadonlyMap<string, FolderLayers> }} tree
 * @returns {string[]}
 */
export function upwardImports(root, folder, { files, layers = folderLayers }) {
  const order = layers.get(folder)?.order
  if (order === undefined) return []
  const source = `${folder}/src`
  const shipped = files.filter(
    (file) => file.startsWith(`${source}/`) && /(?<!\.test)\.ts$/.test(file) && !file.includes('/testing/'),
  )
  return shipped.flatMap((file) =>
    importsOf(parseSource(join(root, file)))
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => resolve('/', dirname(file), specifier).slice(1))
      .filter((target) => !pointsDown(order, layerOf(order, source, file), layerOf(order, source, target)))
      .map((target) => `${file} imports ${target}`),
  )
}

/**
 * Reports the imports against the order of layers if there are more than allowed.
 * @param {string} root
 * @param {string} folder
 * @param {{ files: readonly string[], layers?: ReadonlyMap<string, FolderLayers> }} tree
 * @returns {string[]}
 */
export function folderProblems(root, folder, tree) {
  const found = upwardImports(root, folder, tree)
  if (found.length <= ((tree.layers ?? folderLayers).get(folder)?.upward ?? 0)) return []
  return found.map((text) => problem(text, 'an import must point to a lower layer of tooling/checks/src/folders.mjs'))
}

/**
 * @param {readonly string[]} order
 * @param {string} from
 * @param {string} to
 */
function pointsDown(order, from, to) {
  const [upper, lower] = [order.indexOf(from), order.indexOf(to)]
  return upper !== -1 && lower !== -1 && upper <= lower
}

/**
 * Returns the row of a file: the file itself, or its nearest parent folder with a row.
 * @param {readonly string[]} order
 * @param {string} source
 * @param {string} file
 */
function layerOf(order, source, file) {
  const path = file.slice(source.length + 1)
  if (!path.includes('/') && !order.includes(path)) return '.'
  const rows = order.filter((row) => path === row || path.startsWith(`${row}/`))
  return rows.toSorted((one, other) => other.length - one.length)[0] ?? path
}
