import type { CallOptions, Client, ClientExtension, ClientExtensionHost } from '@x/client'
import { createLog, isJsonArray, isJsonObject, type JsonObject } from '@x/core'
import type { Resource } from '@x/schema'
import { type Skill, skillFileName, skillsIdentifier, skillsMethods, type SkillResource } from '../wire/skill.ts'
import { isSkillError, SkillError } from '../skill-error.ts'
import { checkEntry, decodePathSegment, directoryOf } from './check-entry.ts'
import { type VerifiedFile, verifyFile } from './verify-file.ts'

export type { VerifiedFile } from './verify-file.ts'

/** What `client.skills` can do. */
export interface SkillsClient {
  /**
   * Lists the skills of the server. An invalid entry is left out and logged as a warning. A server may list fewer
   * skills than it serves, so {@link get} may still find one that is not listed.
   */
  list(options?: CallOptions): Promise<Skill[]>
  /**
   * Finds the entry of one skill by the URI of its `SKILL.md`. Rejects with {@link SkillError} for an invalid entry,
   * and with `ClientError` if the server does not serve the skill.
   */
  get(uri: string, options?: CallOptions): Promise<Skill>
  /**
   * Reads one file of a skill, and verifies its size and its digest against the entry. For the `SKILL.md` of the skill,
   * verifies the frontmatter, too. After an error `size`, `digest` or `unlisted`, call {@link get} for the present entry.
   * A user's approval of the earlier entry then no longer holds.
   *
   * @param path The path below the directory of the skill, as in a relative link, or the URI of a file in
   *   `skill.resources`. Default: `SKILL.md`.
   * @throws SkillError `entry` for a skill whose files are `dynamic`, because they have no digests. Read such a file with
   *   `client.readResource`, unverified.
   */
  read(skill: Skill, path?: string, options?: CallOptions): Promise<VerifiedFile>
  /**
   * Lists what is in a directory now, by the URI of the directory. A file that the entry of a skill does not list is no
   * file of the skill (extensions/skills, directory reads). Rejects with {@link SkillError} `entry` if the server does
   * not declare `directoryRead`.
   */
  readDirectory(uri: string, options?: CallOptions): Promise<Resource[]>
}

/**
 * Adds Skills to a client (extensions/skills): lists and verifies the skills of one server. The host decides which
 * skills a user approves, and shows a model from which server a skill comes.
 *
 * @example
 * const client = createClient(connection, { name: 'host', version: '1.0.0', extensions: [skillsClient()] })
 * const [skill] = await client.skills.list()
 */
export function skillsClient(): ClientExtension<'skills', SkillsClient> {
  return {
    extends: 'client',
    name: 'skills',
    identifier: skillsIdentifier,
    capabilities: { extensions: { [skillsIdentifier]: {} } },
    start: (host) => ({ api: createSkillsClient(host) }),
  }
}

function createSkillsClient(host: ClientExtensionHost): SkillsClient {
  const log = createLog(host.options.log, '@x/skills')
  let readingClient: Client | undefined
  const reader = (): Client => (readingClient ??= host.fork((next) => next))

  return {
    list: async (options = {}) => {
      const entries = await readPages(host, { method: skillsMethods.list, field: 'skills' }, options)
      return entries.flatMap((entry) => {
        try {
          return [checkEntry(entry)]
        } catch (error) {
          if (!isSkillError(error)) throw error
          log({ level: 'warn', message: `A skill was left out: ${error.message}`, method: skillsMethods.list })
          return []
        }
      })
    },
    get: async (uri, options = {}) => {
      const { skill } = await host.request(skillsMethods.get, { uri }, { ...options, ...repeatableRead })
      const entry = checkEntry(skill)
      if (entry.uri !== uri) throw new SkillError('entry', `${uri}: the server returned the entry of ${entry.uri}`)
      return entry
    },
    read: async (skill, path = skillFileName, options = {}) => {
      const file = findListedFile(skill, path)
      const readOnce = async (refresh: boolean): Promise<VerifiedFile> =>
        verifyFile({ ...(await reader().readResource(file.uri, { ...options, refresh })) }, file, skill)
      try {
        return await readOnce(false)
      } catch (error) {
        // The client's cache may hold the file as it was before the entry.
        if (isSkillError(error)) return readOnce(true)
        throw error
      }
    },
    readDirectory: async (uri, options = {}) => {
      await requireDirectories(reader(), uri)
      const page = { method: skillsMethods.readDirectory, field: 'resources', params: { uri } }
      return (await readPages(host, page, options)).map((resource) => checkResource(resource, uri))
    },
  }
}

/** A read has no effect, so the client may send it again when its response is lost. */
const repeatableRead = { repeatable: true, targetParam: 'uri' } as const

/** A server could return pages without end. */
const maxPages = 1000

async function readPages(
  { request }: ClientExtensionHost,
  {
    method,
    field,
    params,
  }: { readonly method: string; readonly field: string; readonly params?: JsonObject | undefined },
  options: CallOptions,
): Promise<readonly JsonObject[]> {
  const entries: JsonObject[] = []
  let cursor: string | undefined
  for (let pageCount = 0; pageCount < maxPages; pageCount += 1) {
    const pageParams = { ...params, ...(cursor !== undefined && { cursor }) }
    const page = await request(method, pageParams, { ...options, ...repeatableRead })
    const pageEntries = page[field]
    if (!isJsonArray(pageEntries)) throw new SkillError('entry', `The result of ${method} has no array \`${field}\``)
    entries.push(...pageEntries.filter(isJsonObject))
    if (typeof page['nextCursor'] !== 'string') return entries
    cursor = page['nextCursor']
  }
  throw new SkillError('entry', `The list of ${method} has more than ${maxPages} pages`)
}

function findListedFile(skill: Skill, path: string): SkillResource {
  const { uri, resources } = skill
  if (resources === 'dynamic') {
    throw new SkillError('entry', `${uri}: its files are dynamic and have no digests, so none can be verified`)
  }
  const listedPath = resolvePath(path)
  const directory = directoryOf(uri)
  const file = resources.find(
    (each) => each.uri === path || decodePath(each.uri.slice(directory.length)) === listedPath,
  )
  if (file === undefined) throw new SkillError('unlisted', `${uri}: its entry does not list ${path}`)
  return file
}

/** A path that leaves its directory becomes one that no entry lists. */
function resolvePath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..' && segments.length > 0) segments.pop()
    else if (segment !== '.') segments.push(segment)
  }
  return decodePath(segments.join('/'))
}

function decodePath(path: string): string {
  return path.split('/').map(decodePathSegment).join('/')
}

/** extensions/skills, capability negotiation: a server declares that it lists directories. */
async function requireDirectories(client: Client, uri: string): Promise<void> {
  const { capabilities } = await client.discover()
  const settings = capabilities.extensions?.[skillsIdentifier]
  if (isJsonObject(settings) && settings['directoryRead'] === true) return
  throw new SkillError('entry', `${uri}: the server does not list directories; use the entry of the skill`)
}

function checkResource(resource: JsonObject, directoryUri: string): Resource {
  const { uri, name } = resource
  if (typeof uri === 'string' && typeof name === 'string') return { ...resource, uri, name }
  throw new SkillError('entry', `${directoryUri}: a resource in this directory has no URI or no name`)
}
