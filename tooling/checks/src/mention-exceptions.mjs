const ofOthers = {
  'names of drafts that were not adopted': 'dependent_requests dependent_responses resourceAllocation',
  'of the JSON Schema vocabulary': 'pattern patternProperties uniqueItems',
  'claims of a JWT (RFC 7519, RFC 9068), or its algorithms': 'iss iat jti scp JWT A256GCM HS256',
  'codes and methods of OAuth': 'invalid_target private_key_jwt',
  'options of oidc-provider': 'accessTokenFormat rotateRefreshToken',
  'options of Node and of its TLS': 'shell rejectUnauthorized ca servername',
  'options of zod, and what it exports': 'fromJSONSchema ZodError',
  'options of Ajv, and what it exports': 'Ajv2020 allErrors strict',
  'options of the redis client': 'socketTimeout reconnectStrategy',
  'exported by undici': 'ProxyAgent',
  'variables of OpenTelemetry, which the command reads by a pattern': 'OTEL_TRACES_EXPORTER OTEL_CONFIG_FILE',
  'a metric as a Collector writes it': 'mcp_server_operation_duration_seconds_count',
  'variables of proxies, which undici reads': 'HTTPS_PROXY',
  'a variable of the server in examples/deploy': 'DATABASE_LISTEN_URL',
  'an option of the SDK of Restate': 'services',
  'exported by the official package for Apps': 'App AppBridge',
  packages: 'pg redis re2js',
  programs: 'initdb npx setsid ssh systemctl uvx',
  'a type and a command of PostgreSQL': 'jsonb NOTIFY',
  'an error of npm': 'ERESOLVE',
  'a balancing method of nginx': 'least_conn',
  'a setting of tsc': 'es2022',
  'a file of a host': 'claude_desktop_config',
  'settings of Lambda, Fly and Vercel': 'RESPONSE_STREAM nodejs24 min_machines_running maxDuration api/mcp.mjs',
  'the program of Cloudflare': 'wrangler',
  'a file of the MCP Registry': 'server.json',
  'files that a reader makes from the code of a guide':
    'weather.mts weather-page.mjs proxy.mjs quick-start.mts definition.mts tracker.test.mts files.mjs',
  'an option of other SDKs': 'protocolVersionDiscovery',
  'exported by the official SDK, and methods of its server and client':
    'server.registerTool server.registerPrompt server.registerResource server.server.elicitInput ' +
    'server.server.listRoots oninitialized getClientCapabilities ' +
    'server.server.createMessage server.sendLoggingMessage server.sendToolListChanged server.connect client.connect ' +
    'client.setRequestHandler authInfo EventStore requireBearerAuth mcpAuthMetadataRouter',
  'methods of strings and arrays': 'indexOf sort',
  'examples within a sentence': 'dueDate sonnet server.carts client.carts v',
  'spellings of sampling in other languages': 'endTurn stopSequence toolUse',
}

/**
 * Names in texts that are not in a source, each with the reason.
 * @type {ReadonlyMap<string, string>}
 */
export const exceptions = new Map(
  Object.entries(ofOthers).flatMap(([reason, names]) => names.split(' ').map((name) => [name, reason])),
)
