import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { protect } from '@x/auth/server'
import { codeOf, importPeerDependency, type JsonObject, parseJsonObject } from '@x/core'
import { legacy } from '@x/legacy'
import { type KeyInput, parseKeyLines, sealedState, type StateCodec } from '@x/state-codec'
import type { GatewayOptions } from '../gateway/gateway.ts'
import { createLogins } from './create-logins.ts'
import { createUpstream, type UpstreamSource } from './create-upstream.ts'
import { describeIssues, findFileProblems, type GatewayFile, gatewayFile } from './file-schema.ts'
import { createOperation, type HttpSettings, readPort } from './operation.ts'
import { SecretReader } from './secret-reader.ts'

/** The options of a gateway and its endpoint, as a file has them. */
export interface GatewaySettings {
  readonly gateway: GatewayOptions
  readonly http: HttpSettings
}

/** Thrown for a file that is no configuration of a gateway. The message has all problems, and no values. */
export class GatewayFileError extends Error {
  override readonly name = 'GatewayFileError'
  readonly code = 'invalid_configuration'
  readonly problems: readonly string[]

  constructor(path: string, problems: readonly string[], options?: ErrorOptions) {
    super(`${path} cannot be used:\n${problems.map((problem) => `- ${problem}`).join('\n')}`, options)
    this.problems = problems
  }
}

/** @throws GatewayFileError that says which file it must be, for one that cannot be read. */
export async function readText(path: string, form: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new GatewayFileError(path, [`it cannot be read (${codeOf(cause)}); give the path of ${form}`], { cause })
  })
}

/** @throws GatewayFileError with the place of the first error, if the text is not JSON. */
export function parseFile(path: string, text: string): JsonObject {
  const file = parseJsonObject(text)
  if (file !== undefined) return file
  try {
    JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new GatewayFileError(path, [`it is not JSON: ${error.message}`])
    throw error
  }
  throw new GatewayFileError(path, ['it is not a JSON object'])
}

/** True for a {@link GatewayFileError}, from this copy of the package or another. */
export function isGatewayFileError(error: unknown): error is GatewayFileError {
  return error instanceof Error && error.name === 'GatewayFileError' && 'problems' in error
}

/**
 * Reads a gateway's configuration from a JSON file. Secrets are in environment variables or in files of their own,
 * whose paths are relative to the file. The gateway serves hosts of older revisions, too.
 *
 * @example
 * const { gateway: options, http } = await readGatewayFile('gateway.json')
 * await serveHttp(gateway(options), http)
 *
 * @throws GatewayFileError with all problems of the form, or, if the form is right, with all other problems. Its cause is
 * the error of Node if the file cannot be read. TypeError for a `listen.protect` that `protect` does not accept.
 */
export async function readGatewayFile(
  path: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<GatewaySettings> {
  const value = parseFile(path, await readText(path, 'a JSON file with "upstreams"'))
  const { data, error } = gatewayFile.safeParse(value)
  if (error !== undefined) throw new GatewayFileError(path, describeIssues(error))
  const source = { folder: dirname(resolve(path)), secrets: new SecretReader(dirname(resolve(path)), environment) }
  source.secrets.problems.push(...findFileProblems(data))
  const settings = await createGatewaySettings(data, source)
  if (settings === undefined || source.secrets.problems.length > 0)
    throw new GatewayFileError(path, source.secrets.problems)
  return settings
}

async function createGatewaySettings(file: GatewayFile, source: UpstreamSource): Promise<GatewaySettings | undefined> {
  const { name, version, listen } = file
  const keys = parseKeyLines(await source.secrets.read('state.keys', file.state.keys)).map(({ input }) => input)
  const state = createState(keys, source)
  const protection = listen.protect && protect(listen.protect)
  const { http, log } = createOperation(file, await readPort(listen, source.secrets))
  const logins = await createLogins(file, keys, { source: { ...source, log }, protection })
  const upstreams: Record<string, GatewayOptions['upstreams'][string]> = {}
  for (const [each, upstream] of Object.entries(file.upstreams))
    upstreams[each] = await createUpstream(each, upstream, { ...source, logins: logins?.logins, state, log })
  const toolSearch = await createToolSearch(file, source)
  if (state === undefined) return undefined
  return {
    gateway: {
      name,
      version,
      state,
      upstreams,
      extensions: [legacy(), ...(logins?.extensions ?? [])],
      toolSearch,
      log,
    },
    http: {
      ...http,
      ...(protection !== undefined && { auth: protection }),
      ...(logins !== undefined && { onRequest: logins.onRequest }),
    },
  }
}

async function createToolSearch(
  { toolSearch: options = false }: GatewayFile,
  { secrets }: UpstreamSource,
): Promise<GatewayOptions['toolSearch']> {
  if (options === false) return undefined
  try {
    const { toolSearch } = await importPeerDependency('minisearch@7', () => import('../tool-search.ts'), 'toolSearch')
    return toolSearch(options === true ? {} : options)
  } catch (error) {
    secrets.problems.push(error instanceof Error ? error.message : 'toolSearch: it cannot be used')
    return undefined
  }
}

function createState(keys: readonly KeyInput[], { secrets }: UpstreamSource): StateCodec | undefined {
  if (keys.length === 0) return undefined
  try {
    return sealedState({ keys })
  } catch (error) {
    secrets.problems.push(`state.keys: ${error instanceof Error ? error.message : 'the keys cannot be used'}`)
    return undefined
  }
}
