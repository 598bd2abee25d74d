import { resolve } from 'node:path'
import { codeOf } from '@x/core'
import { type Exchange, serverOf, type Server } from '@x/exchange'
import type { OpenApiOptions } from '@x/openapi'
import { errorCodes, errorResponse, McpError } from '@x/schema'
import { createExchange, createServerAuthorizer, type UpstreamSource } from './create-credentials.ts'
import type { OpenApiUpstream } from './file-schema.ts'

/** Serves an API. A document that cannot be used is a problem of the file. */
export async function createApiServer(
  name: string,
  upstream: OpenApiUpstream,
  source: UpstreamSource,
): Promise<Server> {
  const { openapi, url, operations, confirm, idempotencyHeader, timeoutMs } = upstream
  const { folder, secrets, state, log } = source
  const headers = await secrets.readAll(`upstreams.${name}.headers`, upstream.headers)
  const credential = await createCredential(name, upstream, source)
  try {
    const [{ openApiTools }, { readOpenApi }, { createServer }] = await Promise.all([
      import('@x/openapi'),
      import('@x/openapi/node'),
      import('@x/server'),
    ])
    const document = await readOpenApi(resolve(folder, openapi))
    const isConfirmed = confirm && createConfirm(confirm)
    const options = { url, operations, credential, headers, confirm: isConfirmed, idempotencyHeader, timeoutMs, log }
    // Every instance of the gateway opens a question's state.
    return createServer({ name, version: '1.0.0', tools: openApiTools(document, options), state, log })
  } catch (error) {
    const isMissing = codeOf(error) === 'ERR_MODULE_NOT_FOUND'
    const reason = error instanceof Error ? error.message : 'it cannot be used'
    const problem = isMissing ? 'needs the packages @x/openapi and @x/server: install them' : reason
    secrets.problems.push(`upstreams.${name}.openapi: ${problem}`)
    // A file with problems makes no gateway, so nothing ever calls this server.
    const refuse: Exchange = async ({ id }) => errorResponse(id, new McpError(errorCodes.internal, problem))
    return serverOf(refuse, { info: { name, version: '1.0.0' }, localOnly: undefined })
  }
}

function createConfirm(names: readonly string[]): NonNullable<OpenApiOptions['confirm']> {
  return ({ method, path, operationId }) =>
    [method, operationId, `${method} ${path}`].some((name) => name !== undefined && names.includes(name))
}

async function createCredential(
  name: string,
  { url, auth: given = {} }: OpenApiUpstream,
  source: UpstreamSource,
): Promise<OpenApiOptions['credential']> {
  const place = `upstreams.${name}.auth`
  // An API publishes no metadata, so its resource is the one of the file, or its address.
  const auth = {
    ...given,
    clientCredentials: given.clientCredentials && { resource: url, ...given.clientCredentials },
    tokenExchange: given.tokenExchange && { resource: url, ...given.tokenExchange },
  }
  const own = await createServerAuthorizer(place, { url, auth }, source)
  return own ?? createExchange(`${place}.tokenExchange`, { url, auth }, source)
}
