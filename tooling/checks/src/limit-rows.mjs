/**
 * One limit of the table in `docs/limits.md`.
 * @typedef {{
 *   package: string, option: string, unit: 'count' | 'ms' | 'bytes' | 'characters' | 'share', bounds: string,
 *   beyond: string, name?: string, file?: string, isFixed?: boolean
 * }} Limit `name` is the name of the default in the source when it is not the last part of `option`, `file` a part of
 *   the path where several files have a default of that name. A fixed limit has no option.
 */

/**
 * @param {string} name
 * @returns {Partial<Limit>}
 */
const boundOfMessages = (name) => ({ name: `defaultBounds.${name}`, file: 'schema/src/messages', isFixed: true })

/** @type {readonly Limit[]} */
export const limitRows = [
  ...rowsOf('transport-http', [
    ['maxBodyBytes', 'bytes', 'a request body', '413', { name: 'defaultBounds.bytes', file: 'schema/src/messages' }],
    ['depth', 'count', 'levels of JSON', '400', boundOfMessages('depth')],
    ['elements', 'count', 'values and members of JSON', '400', boundOfMessages('elements')],
    ['timeoutMs', 'ms', 'a call; streams have no limit', '504', { file: 'server/handler-settings' }],
    [
      'maxQueuedBytes',
      'bytes',
      'output that waits for a slow reader',
      'notifications are dropped, streams are closed',
      { file: 'server/handler-settings', isFixed: true },
    ],
    [
      'writeTimeoutMs',
      'ms',
      'a finished answer that its client does not read',
      'the connection is closed',
      fixed('defaultWriteTimeoutMs'),
    ],
    [
      'maxPipelinedRequests',
      'count',
      'requests at once on one connection',
      '503, and the connection is closed',
      { isFixed: true },
    ],
    [
      'headersTimeout',
      'ms',
      'the arrival of a head',
      'the connection is closed',
      { file: 'node/serve-http', isFixed: true },
    ],
    [
      'requestTimeout',
      'ms',
      'the arrival of a body',
      'the connection is closed',
      { file: 'node/serve-http', isFixed: true },
    ],
    [
      'maxReportsPerMinute',
      'count',
      'different rejections of `Host` or `Origin` that are reported in a minute',
      'the rest is counted',
      { isFixed: true },
    ],
  ]),
  ...rowsOf('transport-stdio', [
    [
      'maxLineBytes',
      'bytes',
      'a line from a client',
      '`-32700`; the rest of the line is skipped',
      { file: 'server/options', isFixed: true },
    ],
    ['maxCalls', 'count', 'calls at once', 'quota', { file: 'server/call-registry', isFixed: true }],
    [
      'maxQueuedBytes',
      'bytes',
      'output that waits for a slow reader',
      'notifications are dropped, streams are closed',
      { file: 'server/options', isFixed: true },
    ],
  ]),
  ...rowsOf('server', [
    [
      'maxArgumentElements',
      'count',
      'values and members in the arguments of a tool or prompt',
      'an error before the schema is applied',
      { name: 'defaultMaxElements' },
    ],
    [
      'messages of a call',
      'count',
      'progress and log messages of one second',
      'dropped',
      fixed('maxNotificationsPerSecond'),
    ],
    ['resource URIs of a stream', 'count', 'resource URIs in one filter', '`-32602`', fixed('maxUris')],
    ['a slow reader', 'ms', 'a stream whose reader takes nothing', 'closed', fixed('defaultSlowReaderTimeoutMs')],
    [
      'shedding.hardLimit.running',
      'count',
      'running calls',
      '503',
      { name: 'running', file: 'shedding/shedding-rules' },
    ],
    [
      'share of new calls',
      'share',
      'the hard limit that calls which come back leave to new ones',
      '503 for calls that come back',
      fixed('newCallShare'),
    ],
    [
      'share of one caller',
      'share',
      'the hard limit that calls of one caller which come back may take',
      '503 for that caller',
      fixed('callerShare'),
    ],
    ['a late event loop', 'ms', 'its delay before hand-offs', 'hand-off', fixed('maxEventLoopDelayMs')],
    ['a full heap', 'share', 'heap in use before hand-offs', 'hand-off', fixed('maxHeapShare')],
    ['a stored result', 'characters', 'its JSON', 'not stored', fixed('maxStoredResultCharacters')],
  ]),
  ...rowsOf('state-codec', [
    [
      'token size',
      'bytes',
      'a token',
      'rejected, at sealing and at opening',
      { name: 'maxTokenBytes', file: 'token/', isFixed: true },
    ],
    [
      'stored state',
      'characters',
      'a stored state',
      'rejected at sealing',
      { name: 'maxRecordCharacters', file: 'store/', isFixed: true },
    ],
    [
      'cached contents',
      'count',
      'decrypted contents of session tokens in memory',
      'the token is decrypted again',
      fixed('maxCachedTokens'),
    ],
    ['ttlMs', 'ms', 'the life of a token', '`-32602`', { file: 'claims/envelope' }],
    ['maxAgeMs', 'ms', 'the life of a call over all its tokens', '`-32602`', { file: 'claims/envelope' }],
    ['memoryStore: maxEntries', 'count', 'values in the store', '`-32603`', { file: 'memory-store' }],
    ['memoryStore: maxCharacters', 'characters', 'values in the store together', '`-32603`', { file: 'memory-store' }],
    ['memoryStore: maxEntriesPerOwner', 'count', 'values of one caller', 'quota', { file: 'memory-store' }],
    [
      'memoryStore: maxCharactersPerOwner',
      'characters',
      'values of one caller together',
      'quota',
      { file: 'memory-store' },
    ],
    [
      'Redis, PostgreSQL: maxEntriesPerOwner',
      'count',
      'values of one caller',
      'quota',
      { name: 'ledgerBounds.states.perCaller', file: 'core/src/ledger' },
    ],
    [
      'Redis, PostgreSQL: maxCharactersPerOwner',
      'characters',
      'values of one caller together',
      'quota',
      { file: 'owner-quota' },
    ],
  ]),
  ...rowsOf('sessions', [
    ['ttlMs', 'ms', 'the life of a session', 'session not found', { file: 'resolved-session-options' }],
    ['maxOpenResources', 'count', 'sessions with an open resource at one instance', '503; one caller has a tenth'],
  ]),
  ...rowsOf('tasks', [
    [
      'memoryEngine: maxTasks',
      'count',
      'tasks of all callers, ended ones included',
      'the oldest ended task of the caller with the most is dropped, else 503',
      { file: 'memory-engine' },
    ],
    ['ttlMs', 'ms', 'a task after its last change', 'deleted', { file: 'server/options' }],
    ['maxJournalBytes', 'bytes', 'the records of a task', 'the task fails', { isFixed: true }],
    ['maxResultBytes', 'bytes', 'the result of a task', 'the task fails', { isFixed: true }],
    ['maxFailures', 'count', 'lost processes without a step in between', 'the task fails'],
    ['unsupportedTaskTimeoutMs', 'ms', 'a task of a tool that no instance has', 'the task fails', { isFixed: true }],
    ['client: maxTaskMs', 'ms', 'the wait for a task', 'the call is rejected'],
    ['client: failureTimeoutMs', 'ms', 'polls that fail in a row', 'the call is rejected'],
  ]),
  ...rowsOf('legacy', [
    ['sessionTtlMs', 'ms', 'the life of a session', '404'],
    ['answerTimeoutMs', 'ms', 'a question that waits for its answer', 'the call fails', { file: 'session/options' }],
    ['rounds', 'count', 'rounds of one call that involve its client', 'the call fails', fixed('maxRounds')],
    [
      'broken streams',
      'count',
      'broken streams that are kept for their readers',
      'the oldest of the caller with the most is dropped',
      fixed('maxStreams'),
    ],
    [
      'streams of a session',
      'count',
      'broken streams that are kept for one session',
      'the oldest is dropped',
      fixed('maxStreamsOfSession'),
    ],
  ]),
  ...rowsOf('client', [
    ['timeoutMs', 'ms', 'a call without progress', 'the call is rejected', { file: 'request/options' }],
    ['maxResendMs', 'ms', 'repetitions after a failure', 'the call is rejected', { file: 'request/options' }],
    ['rounds.maxRounds', 'count', 'rounds of one call with questions', 'the call is rejected', { file: 'request/' }],
    [
      'hand-offs',
      'count',
      'results of one call with a state and no question',
      'the call is rejected',
      { name: 'maxHandOffs', file: 'rounds/', isFixed: true },
    ],
    ['pages of a list', 'count', 'pages of a list', 'the list is rejected', fixed('maxPages')],
    ['list size', 'characters', 'all pages of a list', 'the list is rejected', fixed('maxListSize')],
    ['createCacheStore: maxEntries', 'count', 'results', 'the least recently used is dropped', { file: 'caching/' }],
    [
      'createCacheStore: maxLength',
      'characters',
      'results',
      'the least recently used is dropped',
      { file: 'caching/' },
    ],
    [
      'schema depth',
      'count',
      'levels of a schema of a server',
      'the schema is rejected',
      { name: 'schemaBounds.depth', file: 'schema/src/json-schema', isFixed: true },
    ],
    [
      'schema size',
      'count',
      'subschemas of a schema of a server',
      'the schema is rejected',
      { name: 'schemaBounds.subschemaCount', file: 'schema/src/json-schema', isFixed: true },
    ],
    [
      'pattern length',
      'characters',
      'a regular expression in a schema',
      'the schema is rejected',
      { name: 'schemaBounds.patternLength', file: 'schema/src/json-schema', isFixed: true },
    ],
  ]),
  ...rowsOf('transport-http', [
    ['client: maxMessageBytes', 'bytes', 'a message of a server', 'the call is rejected', { file: 'client/options' }],
    ['client: maxStreamBytes', 'bytes', 'a stream of a call', 'the call is rejected', { file: 'client/options' }],
    ['redirects', 'count', 'redirects of a call', 'the call is rejected', fixed('maxRedirects')],
  ]),
  ...rowsOf('transport-stdio', [
    [
      'client: maxLineBytes',
      'bytes',
      'a line from a server',
      'the call is rejected',
      { file: 'client/options', isFixed: true },
    ],
  ]),
  ...rowsOf('auth', [
    [
      'login metadata',
      'ms',
      'a metadata document',
      'the login fails',
      fixed('metadataTimeoutMs', 'client/fetch-server'),
    ],
    [
      'login documents',
      'bytes',
      'a document of an issuer',
      'the login fails',
      fixed('maxBytes', 'client/fetch-server'),
    ],
    ['login page', 'ms', 'a login at a gateway', 'it begins again', fixed('ticketTtlMs', 'login/login-tickets')],
    ['stored token', 'ms', 'a token without renewal', 'another login', fixed('tokenTtlMs', 'login/login-store')],
    ['keys of an issuer', 'bytes', 'a key set', 'the token is rejected', fixed('maxBytes', 'server/issuer-requests')],
  ]),
]

/**
 * @param {string} name The name of a constant that no option changes.
 * @param {string} [file]
 */
function fixed(name, file) {
  return { name, isFixed: true, ...(file !== undefined && { file }) }
}

/**
 * @param {string} name
 * @param {readonly (readonly [string, Limit['unit'], string, string, Partial<Limit>?])[]} rows
 * @returns {Limit[]}
 */
function rowsOf(name, rows) {
  return rows.map(([option, unit, bounds, beyond, more]) => ({ package: name, option, unit, bounds, beyond, ...more }))
}
