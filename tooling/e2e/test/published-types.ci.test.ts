import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compilers } from '@tooling/typescript-versions'
import { isNight } from '@tooling/vitest/needs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listEntries, packPackages } from '../src/installed/packed-packages.ts'
import { runCommand } from '../src/installed/run-command.ts'
import { linkModule, unpackPackages } from '../src/installed/unpack-packages.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const minute = 60_000

/** Entries whose declarations require the types of Node. All others are checked with the types of the web too. */
const forNode = new Set([
  '@x/auth/node',
  '@x/cli/dev',
  '@x/cli/terminal',
  '@x/gateway/node',
  '@x/server/node',
  '@x/tasks/pglite',
  '@x/tasks/postgres',
  '@x/tasks/server',
  '@x/tasks/testing',
  '@x/testing/node',
  '@x/transport-http/node',
  '@x/transport-stdio',
  '@x/transport-stdio/internal',
])

const strict = {
  strict: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2022',
  skipLibCheck: false,
  allowImportingTsExtensions: true,
}
const programs = {
  // Without the types of Node, as for a program in a browser.
  web: { ...strict, lib: ['es2022', 'dom'], types: [], preserveSymlinks: true },
  node: { ...strict, lib: ['es2022'], types: ['node'] },
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'published-types-'))
  await unpackPackages(folder, await packPackages(`${folder}/tarballs`))
  const entries = (await listEntries(root)).flatMap((one) => one.entries)
  expect(entries).toEqual(expect.arrayContaining([...forNode]))
  const web = entries.filter((entry) => !forNode.has(entry))
  for (const [name, list] of Object.entries({ web, node: entries })) {
    await mkdir(`${folder}/${name}`)
    await writeFile(`${folder}/${name}/package.json`, '{ "type": "module" }')
    await writeFile(`${folder}/${name}/program.ts`, programOf(list))
  }
  await cp(`${root}tooling/examples/src/tracker`, `${folder}/node/tracker`, { recursive: true })
  for (const name of ['results.ts', 'mistaken.ts']) {
    await cp(`${root}tooling/examples/guesses/${name}`, `${folder}/node/${name}`)
  }
  for (const types of ['@types/node', '@types/pg']) {
    await linkModule(`${folder}/node`, `${root}tooling/e2e/node_modules/${types}`, types)
  }
}, 5 * minute)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Creates a program that imports the types of every entry. */
function programOf(entries: readonly string[]): string {
  const imports = entries.map((entry, index) => `import type * as entry${index} from '${entry}'\n`)
  return `${imports.join('')}export type All = [${entries.map((_, index) => `typeof entry${index}`).join(', ')}]\n`
}

/**
 * Returns the errors in a program and in the declarations of our packages. Errors in other packages are ignored. An
 * entry that is not found is an error.
 */
async function errorsOf(compiler: string, name: keyof typeof programs): Promise<readonly string[]> {
  const target = `${folder}/${name}`
  const config = { compilerOptions: programs[name], include: ['*.ts', 'tracker'] }
  await writeFile(`${target}/tsconfig.json`, JSON.stringify(config))
  const output = await runCommand(process.execPath, [compiler, '-p', '.', '--pretty', 'false'], target).catch(
    (error: unknown) => String(error),
  )
  return output.split('\n').filter((line) => /^(?:\.\.\/node_modules\/@x\/|[a-z-/]+\.ts|error )/.test(line))
}

/** Reads what the first line of each error in `mistaken.ts` has to say. */
async function readMistakes(): Promise<readonly string[]> {
  const lines = (await readFile(`${folder}/node/mistaken.ts`, 'utf8')).split('\n')
  return lines.flatMap((line) => / \/\/ error: (.+)$/.exec(line)?.[1] ?? [])
}

// Those between the oldest and the newest version take a minute, so they are left to the night.
const compared = [...compilers].filter((_, at, all) => isNight || at === 0 || at === all.length - 1)

test.each(compared)(
  'TypeScript %s compiles the packed declarations of every entry, the issue tracker, and results as other SDKs write them, and the first line of its error names each mistake',
  async (_, compiler) => {
    const errors = await errorsOf(compiler, 'node')
    expect(errors.filter((line) => !line.startsWith('mistaken.ts'))).toEqual([])
    expect(errors).toEqual((await readMistakes()).map((advice) => expect.stringContaining(advice)))
  },
  5 * minute,
)

// What a declaration needs of Node does not depend on the compiler, so the fastest is enough.
test(
  'web entries compile without the types of Node',
  async () => {
    expect(await errorsOf(compilers.get('7.0') ?? '', 'web')).toEqual([])
  },
  5 * minute,
)
