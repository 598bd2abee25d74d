import { type JsonObject, stringifyWellFormed } from '@x/core'
import type { Resource } from '@x/schema'
import { digestOf } from '../wire/digest.ts'
import { directoryMediaType, type Skill } from '../wire/skill.ts'
import { type ParsedSkillFiles, type ServedFile, skillUri } from './parse-skill-files.ts'

/** All that a server answers about its skills. Made once for a set of files, and never changed. */
export interface Catalogue {
  /** In the order of their URIs. */
  readonly skills: ReadonlyMap<string, Skill>
  readonly files: ReadonlyMap<string, ServedFile>
  /** By the URI of the file. */
  readonly digests: ReadonlyMap<string, string>
  /** Direct children of each directory, in the order of their URIs. */
  readonly directories: ReadonlyMap<string, readonly Resource[]>
}

/** Computes the digest of each file. */
export async function createCatalogue({ skills, files }: ParsedSkillFiles): Promise<Catalogue> {
  const digests = new Map(
    await Promise.all([...files.values()].map(async ({ uri, bytes }) => [uri, await digestOf(bytes)] as const)),
  )
  const entries = skills.map(({ uri, frontmatter, files }): [string, Skill] => {
    const resources = files.map((file) => ({
      uri: file.uri,
      digest: digests.get(file.uri) ?? '',
      size: file.bytes.length,
    }))
    return [uri, { uri, frontmatter, resources }]
  })
  const skillEntries = new Map(entries)
  return {
    skills: skillEntries,
    files,
    digests,
    directories: createDirectories([...files.values()], skillEntries),
  }
}

/** As lists and directories show a file (extensions/skills, resource metadata). */
function toFileResource(file: ServedFile, skill: Skill | undefined): Resource {
  const { uri, name, mimeType, bytes } = file
  const { name: skillName, description } = skill?.frontmatter ?? {}
  return {
    uri,
    name: skillName ?? name,
    ...(description !== undefined && { description }),
    mimeType,
    size: bytes.length,
  }
}

function createDirectories(
  files: readonly ServedFile[],
  skills: ReadonlyMap<string, Skill>,
): ReadonlyMap<string, readonly Resource[]> {
  // Bounded by the directories of the author's files.
  const childrenByDirectory = new Map<string, Map<string, Resource>>()
  const addChild = (directory: string, child: Resource): void => {
    const children = childrenByDirectory.get(directory) ?? new Map<string, Resource>()
    childrenByDirectory.set(directory, children.set(child.uri, child))
  }
  for (const file of files) {
    const segments = file.path.split('/')
    addChild(skillUri(segments.slice(0, -1)), toFileResource(file, skills.get(file.uri)))
    for (let depth = segments.length - 2; depth > 0; depth -= 1) {
      const name = segments[depth] ?? ''
      const uri = skillUri(segments.slice(0, depth + 1))
      addChild(skillUri(segments.slice(0, depth)), { uri, name, mimeType: directoryMediaType })
    }
  }
  return new Map([...childrenByDirectory].map(([uri, children]) => [uri, sortByUri([...children.values()])] as const))
}

function sortByUri(resources: readonly Resource[]): readonly Resource[] {
  return resources.toSorted((a, b) => (a.uri < b.uri ? -1 : 1))
}

/** Finds what clients are notified of. */
export function compareCatalogues(
  before: Catalogue,
  after: Catalogue,
): {
  /** A skill was added, removed or described otherwise. */
  readonly isListChanged: boolean
  /** URIs of files that both catalogues have, with different content. */
  readonly changedUris: readonly string[]
} {
  const changedUris = [...after.digests].flatMap(([uri, digest]) => {
    const digestBefore = before.digests.get(uri)
    return digestBefore === undefined || digestBefore === digest ? [] : [uri]
  })
  return { isListChanged: listedText(before) !== listedText(after), changedUris }
}

function listedText({ skills }: Catalogue): string {
  return stringifyWellFormed([...skills].map(([uri, { frontmatter }]): JsonObject => ({ uri, frontmatter })))
}

/** Only the `SKILL.md` files are in `resources/list`. */
export function listedResources({ skills, files }: Catalogue): readonly Resource[] {
  return [...skills.values()].flatMap((skill) => {
    const file = files.get(skill.uri)
    return file === undefined ? [] : [toFileResource(file, skill)]
  })
}
