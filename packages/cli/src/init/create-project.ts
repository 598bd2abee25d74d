import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { packageRoot, readOwnManifest } from '../package-root.ts'

const kinds = ['http', 'stdio', 'worker'] as const

type ProjectKind = (typeof kinds)[number]

/** Exactly one is true. */
export type InitOptions = { readonly [Kind in ProjectKind]?: boolean }

/** Makes the folder of a new server from the templates of its kind. Never writes into a folder that has files. */
export async function createProject(
  { printer }: CommandContext,
  options: InitOptions,
  [folder = '']: readonly string[],
): Promise<ExitCode> {
  const kind = readProjectKind(options)
  const path = resolve(folder)
  const name = toPackageName(basename(path))
  await checkEmpty(path)
  const files = [...(await readTemplates('every-kind')), ...(await readTemplates(kind))]
  const values = createValues(kind, name)
  for (const { file, text } of files) {
    const target = join(path, file)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, fillIn(text, values), { flag: 'wx' })
  }
  const names = files.map(({ file }) => file).toSorted()
  printer.result(
    { folder: path, name, kind, files: names },
    `${path} has a new server: ${names.join(', ')}.\n\nNext:\n  cd ${folder}\n  npm install\n  npm test\n  npm start`,
  )
  return 0
}

function readProjectKind(options: InitOptions): ProjectKind {
  const [kind, ...others] = kinds.filter((one) => options[one] === true)
  if (kind !== undefined && others.length === 0) return kind
  throw new CliError('usage', 'Write one of --http, --stdio and --worker')
}

function toPackageName(folderName: string): string {
  const name = folderName
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|(?<!-)-+$/g, '')
    .slice(0, 100)
  if (name === '') throw new CliError('usage', `"${folderName}" is not a name for a package; write letters or digits`)
  return name
}

async function checkEmpty(path: string): Promise<void> {
  const entries = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  if (entries.length > 0) throw new CliError('failure', `${path} has files; name a new folder`)
}

/** Their name begins with a dot in a project. npm does not publish `.gitignore`. */
const dotFiles: ReadonlySet<string> = new Set(['gitignore', 'dockerignore'])

async function readTemplates(
  kind: ProjectKind | 'every-kind',
): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const folder = fileURLToPath(new URL(`templates/${kind}/`, packageRoot))
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ name, parentPath }) => {
        const path = join(parentPath, name)
        const file = dotFiles.has(name) ? `.${name}` : path.slice(folder.length)
        return { file, text: await readFile(path, 'utf8') }
      }),
  )
}

/** Ranges of packages that this package does not depend on itself. */
export const foreignVersions: Readonly<Record<string, string>> = {
  '@types/node': '^20.19.43',
  typescript: '^7.0.2',
  wrangler: '^4.40.0',
  zod: '^4.4.0',
}

function createValues(kind: ProjectKind, name: string): ReadonlyMap<string, string> {
  const { version, dependencies } = readOwnManifest()
  const versions = { ...dependencies, ...foreignVersions, '@x/cli': `^${version}` }
  const links = createInstallLinks(name, kind === 'stdio' ? undefined : addresses[kind])
  return new Map([
    ['name', name],
    ['registryName', `io.github.YOUR-NAME/${name}`],
    ['vscodeLink', links.vscode],
    ['cursorLink', links.cursor],
    ...Object.entries(versions).map(([one, range]) => [`version:${one}`, String(range)] as const),
  ])
}

const addresses = { http: 'http://127.0.0.1:3000/mcp', worker: 'http://localhost:8787/mcp' } as const

/** A person adds a server to a host with these links: the one at the URL, or without one a package that `npx` starts. */
function createInstallLinks(
  name: string,
  url: string | undefined,
): { readonly vscode: string; readonly cursor: string } {
  const command = { command: 'npx', args: ['-y', name] }
  const vscode = JSON.stringify(url === undefined ? command : { type: 'http', url })
  const cursor = JSON.stringify(url === undefined ? command : { url })
  return {
    vscode: `https://vscode.dev/redirect/mcp/install?name=${name}&config=${encodeURIComponent(vscode)}`,
    cursor: `https://cursor.com/en-US/install-mcp?name=${name}&config=${encodeURIComponent(Buffer.from(cursor).toString('base64'))}`,
  }
}

function fillIn(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\{\{([^{}]+)\}\}/g, (_, key: string) => {
    const value = values.get(key)
    if (value === undefined) throw new Error(`A template has the unknown placeholder ${key}`)
    return value
  })
}
