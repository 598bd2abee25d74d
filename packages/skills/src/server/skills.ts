import { checkArgument, type OptionTable, resolveOptions, encodeBase64, quoteText } from '@x/core'
import type { ExtensionHost, ExtensionInstance, ServerExtension } from '@x/exchange'
import { type CacheScope, errorCodes, McpError, type ReadResourceResult, type RpcRequest } from '@x/schema'
import { type Skill, skillsIdentifier, skillsMethods } from '../wire/skill.ts'
import { type Catalogue, compareCatalogues, createCatalogue, listedResources } from './catalogue.ts'
import { paginateEntries } from './pages.ts'
import { type ParsedSkillFiles, parseSkillFiles, type ServedFile } from './parse-skill-files.ts'
import type { SkillFile } from './skill-file.ts'

/** The options of {@link skills}. */
export interface SkillsOptions {
  /** Files of all skills, for example from `readSkills` of `@x/skills/node`. */
  readonly files: readonly SkillFile[]
  /**
   * How long clients may cache lists, entries and files, and in which caches. Default: five minutes, and caches of one
   * caller.
   */
  readonly cache?: { readonly ttlMs?: number | undefined; readonly scope?: CacheScope | undefined } | undefined
}

/** What `server.skills` can do. */
export interface SkillsApi {
  /**
   * Replaces all files of all skills. Subscribers are notified if the list of skills has changed, and of each file that
   * has. The other instances of the server keep their files until they replace them, too.
   *
   * @throws SkillError if the files cannot be served. The server then keeps the files that it has.
   */
  replace(files: readonly SkillFile[]): Promise<void>
}

const defaultCache = { ttlMs: 300_000, scope: 'private' } as const

/**
 * Adds Skills to a server (extensions/skills): each file of each skill is a resource. `resources/list` has the
 * `SKILL.md` of each skill, so that hosts without the extension find the skills, too.
 *
 * @throws SkillError for files that break a rule of the Agent Skills specification or of the extension. The message
 *   names the file and says what is right.
 *
 * @example
 * const server = createServer({ name: 'demo', version: '1.0.0', extensions: [skills({ files: await readSkills('./skills') })] })
 */
export function skills(options: SkillsOptions): ServerExtension<'skills', SkillsApi> {
  resolveOptions(options, skillsOptionTable, 'skills')
  checkArgument(options, {
    where: 'skills',
    takes: 'an object with files, as readSkills() returns them',
    needs: ['files'],
  })
  const parsedFiles = parseSkillFiles(options.files)
  const cacheHints = {
    ttlMs: options.cache?.ttlMs ?? defaultCache.ttlMs,
    cacheScope: options.cache?.scope ?? defaultCache.scope,
  }
  return {
    extends: 'server',
    name: 'skills',
    identifier: skillsIdentifier,
    capabilities: { directoryRead: true },
    servesResources: true,
    start: (host) => serveSkills(parsedFiles, cacheHints, host),
  }
}

const skillsOptionTable = { files: undefined, cache: undefined } satisfies OptionTable<SkillsOptions>

type ResultCacheHints = Pick<ReadResourceResult, 'ttlMs' | 'cacheScope'>

function serveSkills(
  firstFiles: ParsedSkillFiles,
  cacheHints: ResultCacheHints,
  host: ExtensionHost,
): ExtensionInstance<SkillsApi> {
  let currentFiles = firstFiles
  // Computed at the first request, because a server opens and computes nothing when it is created.
  let currentCatalogue: Promise<Catalogue> | undefined
  const catalogue = (): Promise<Catalogue> => (currentCatalogue ??= createCatalogue(currentFiles))

  async function replace(files: readonly SkillFile[]): Promise<void> {
    const nextFiles = parseSkillFiles(files)
    const before = catalogue()
    currentFiles = nextFiles
    // Requests wait for the new catalogue from now on, so the last of several replacements counts.
    currentCatalogue = createCatalogue(currentFiles)
    const { isListChanged, changedUris } = compareCatalogues(await before, await currentCatalogue)
    await Promise.all([
      isListChanged ? host.notifyListChanged('resources') : undefined,
      ...changedUris.map((uri) => host.notifyResourceUpdated(uri)),
    ])
  }

  return {
    api: { replace },
    methods: {
      [skillsMethods.list]: async ({ params }) => {
        const { skills } = await catalogue()
        const { entries, nextCursor } = paginateEntries([...skills.values()], params?.['cursor'], countResources)
        return { skills: entries, ...(nextCursor !== undefined && { nextCursor }), ...cacheHints }
      },
      [skillsMethods.get]: async (request) => {
        const uri = readUriParam(request)
        const skill = (await catalogue()).skills.get(uri)
        if (skill === undefined) throw invalidParams(`No skill is served at ${quoteText(uri)}`)
        return { skill, ...cacheHints }
      },
      [skillsMethods.readDirectory]: async (request) => {
        const uri = readUriParam(request)
        const resources = (await catalogue()).directories.get(uri)
        if (resources === undefined) throw invalidParams(`${quoteText(uri)} is not a directory resource`)
        const { entries, nextCursor } = paginateEntries(resources, request.params?.['cursor'])
        return { resources: entries, ...(nextCursor !== undefined && { nextCursor }), ...cacheHints }
      },
    },
    resources: {
      list: async (_call, cursor) => {
        const { entries, nextCursor } = paginateEntries(listedResources(await catalogue()), cursor)
        return { resources: entries, nextCursor, ...cacheHints }
      },
      has: (uri) => currentFiles.files.has(uri),
      read: (uri) => {
        const file = currentFiles.files.get(uri)
        return file && toReadResult(file, cacheHints)
      },
    },
  }
}

function countResources({ resources }: Skill): number {
  return resources === 'dynamic' ? 1 : 1 + resources.length
}

function toReadResult({ uri, mimeType, text, bytes }: ServedFile, cacheHints: ResultCacheHints): ReadResourceResult {
  const content = text === undefined ? { uri, mimeType, blob: encodeBase64(bytes) } : { uri, mimeType, text }
  return { resultType: 'complete', contents: [content], ...cacheHints }
}

function readUriParam({ params }: RpcRequest): string {
  const uri = params?.['uri']
  if (typeof uri !== 'string') throw invalidParams('Invalid params: params.uri must be a string')
  return uri
}

function invalidParams(message: string): McpError {
  return new McpError(errorCodes.invalidParams, message)
}
