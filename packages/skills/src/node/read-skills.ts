import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { skillFileName } from '../wire/skill.ts'
import { SkillError } from '../skill-error.ts'
import type { SkillFile } from '../server/skill-file.ts'

/**
 * Reads all skills in a folder. Each directory with a `SKILL.md` is a skill, at any depth. Files outside of skills are
 * left out, and so are files and directories whose names begin with a dot. `skills` rejects what was read from the
 * directory of a single skill: give the folder that holds it.
 *
 * @throws SkillError for a symbolic link, because it could name any file of this machine. An error of the file system
 *   is thrown as it is.
 *
 * @example
 * const files = await readSkills(fileURLToPath(new URL('./skills', import.meta.url)))
 */
export async function readSkills(folder: string): Promise<readonly SkillFile[]> {
  const paths = await listFiles(folder, '')
  const skillDirectories = paths
    .filter((each) => each === skillFileName || each.endsWith(`/${skillFileName}`))
    .map((each) => each.slice(0, -skillFileName.length))
  const skillPaths = paths.filter((each) => skillDirectories.some((directory) => each.startsWith(directory)))
  return Promise.all(
    skillPaths.map(async (each) => ({ path: each, content: await readFile(path.join(folder, ...each.split('/'))) })),
  )
}

async function listFiles(folder: string, prefix: string): Promise<readonly string[]> {
  const entries = await readdir(path.join(folder, prefix), { withFileTypes: true })
  const visibleEntries = entries.filter(({ name }) => !name.startsWith('.'))
  const paths = await Promise.all(
    visibleEntries.map(async (entry) => {
      const entryPath = `${prefix}${entry.name}`
      if (entry.isDirectory()) return listFiles(folder, `${entryPath}/`)
      if (entry.isFile()) return [entryPath]
      throw new SkillError('entry', `${entryPath}: is neither a file nor a directory; replace a link by its target`)
    }),
  )
  return paths.flat().toSorted()
}
