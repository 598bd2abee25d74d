import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { runCommand } from './run-command.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const manifest = z.object({ name: z.string(), version: z.string() })
/** The author of the commits in a copy. */
const identity = ['-c', 'user.name=Tests', '-c', 'user.email=tests@localhost']

/** How much a version moves. */
export type Bump = 'major' | 'minor' | 'patch'

/** A copy of this repository for tests of versions and of publishing. */
export interface WorkspaceCopy {
  readonly folder: string
  /** Commits a changeset, such as `{ '@x/client': 'minor' }`. */
  change(name: string, bumps: Readonly<Record<string, Bump>>): Promise<void>
  /** Applies the changesets, commits the versions, and resolves to the version of each public package. */
  version(): Promise<ReadonlyMap<string, string>>
  /** Merges a branch that a clone has pushed. */
  merge(branch: string): Promise<void>
  /** Runs a program of the repository with Node. */
  node(script: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string>
}

/** Copies the files of the repository and the built packages into an empty folder with its own Git history. */
export async function copyWorkspace(folder: string): Promise<WorkspaceCopy> {
  const list = await runCommand('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], root)
  const files = [...new Set(list.split('\0'))].filter((file) => file !== '')
  await Promise.all(files.map((file) => copyFile(file, folder)))
  const folders = [...new Set(files.filter((file) => file.endsWith('/package.json')).map((file) => dirname(file)))]
  for (const one of folders) await copyFile(`${one}/node_modules`, folder)
  const packages = folders.filter((one) => /^packages\/[^/]+$/.test(one))
  for (const one of packages) for (const built of ['dist', 'guides']) await copyFile(`${one}/${built}`, folder)
  await symlink(`${root}node_modules`, `${folder}/node_modules`)
  await runCommand('git', ['init', '--quiet', '--initial-branch', 'main'], folder)
  await writeFile(`${folder}/.git/info/exclude`, 'node_modules\n')
  await commit(folder)
  return {
    folder,
    change: async (name, bumps) => {
      const lines = Object.entries(bumps).map(([one, bump]) => `'${one}': ${bump}\n`)
      await writeFile(`${folder}/.changeset/${name}.md`, `---\n${lines.join('')}---\n\nA change.\n`)
      await commit(folder)
    },
    version: async () => {
      await runCommand(process.execPath, ['tooling/run/version-packages.mjs'], folder)
      await commit(folder)
      return readVersions(folder, packages)
    },
    merge: async (branch) => void (await runCommand('git', ['merge', '--quiet', '--ff-only', branch], folder)),
    node: (script, args, env) => runCommand(process.execPath, [script, ...args], { folder, env }),
  }
}

/** Copies a file or a folder. A missing one is skipped. */
async function copyFile(path: string, folder: string): Promise<void> {
  const target = join(folder, path)
  await mkdir(dirname(target), { recursive: true })
  await cp(join(root, path), target, { recursive: true, verbatimSymlinks: true }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  })
}

async function commit(folder: string): Promise<void> {
  await runCommand('git', ['add', '--all'], folder)
  await runCommand('git', [...identity, 'commit', '--quiet', '--allow-empty', '--message', 'A state'], folder)
}

async function readVersions(folder: string, packages: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const read = async (one: string): Promise<[string, string]> => {
    const { name, version } = manifest.parse(JSON.parse(await readFile(`${folder}/${one}/package.json`, 'utf8')))
    return [name, version]
  }
  return new Map(await Promise.all(packages.map(read)))
}

/** Returns the versions after a change of some packages. */
export function increaseAll(
  versions: ReadonlyMap<string, string>,
  bumpOf: Readonly<Record<string, Bump>>,
): ReadonlyMap<string, string> {
  return new Map([...versions].map(([name, version]) => [name, increase(version, bumpOf[name])]))
}

function increase(version: string, bump: Bump | undefined): string {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (bump === 'major') return `${major + 1}.0.0`
  if (bump === 'minor') return `${major}.${minor + 1}.0`
  return bump === 'patch' ? `${major}.${minor}.${patch + 1}` : version
}

export function patchesOf(packages: readonly string[]): Record<string, Bump> {
  return Object.fromEntries(packages.map((name) => [name, 'patch']))
}
