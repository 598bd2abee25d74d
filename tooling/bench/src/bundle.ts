import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { print } from './ratios.ts'

/** A program to bundle like an application, with the ceilings of its size. */
export interface BundleRow {
  readonly name: string
  readonly source: string
  /** The largest size in KB, minified and gzipped. A change that saves bytes lowers it. One that raises it has a reason. */
  readonly ceiling: number
  /** That of the code that the program loads at its start, if the bundler splits the code. */
  readonly startCeiling: number
}

const zodTool = `
import * as z from 'zod'
const echo = tool('echo', { description: 'Repeats', input: z.object({ text: z.string() }), run: ({ text }) => text })`

const plainTool = `
const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const echo = tool('echo', { description: 'Repeats', input, run: ({ text }) => text })`

function server(tool: string): string {
  return `
import { createServer, tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
${tool}
export default { fetch: httpHandler(createServer({ name: 'echo', version: '1.0.0', tools: [echo] })) }`
}

const client = `
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
const client = createClient(connectHttp('https://example.com/mcp'), { name: 'host', version: '1.0.0' })
export const echo = (text) => client.callTool('echo', { text })`

/** The smallest programs of a server and a client, and what one function alone carries. */
export const bundles: readonly BundleRow[] = [
  // What names the mistakes of a definition, of a handler and of programs without types takes 2 KB, the one table of rules
  // for fields of forms 0.6 KB, and the check of their answers, which keeps the validator out of `form`, 0.4 KB. The log of
  // scopes that a caller lacks takes 0.2 KB.
  { name: 'server, a tool with zod', source: server(zodTool), ceiling: 114.3, startCeiling: 106.1 },
  { name: 'server, a tool with JSON Schema', source: server(plainTool), ceiling: 89.6, startCeiling: 81.3 },
  // The events of calls take 0.5 KB. The state of a connection, the limit of its calls, and whether a failed call may have
  // run take 1.7 KB.
  { name: 'client, in a browser', source: client, ceiling: 42.8, startCeiling: 42.8 },
  {
    name: '`createClient` alone',
    source: "export { createClient } from '@x/client'",
    ceiling: 30.5,
    startCeiling: 30.5,
  },
  // A bundler that splits loads more of it at the start than one that does not, because it keeps what the modules behind
  // `import()` share with the entry.
  { name: '`form` alone', source: "export { form } from '@x/server'", ceiling: 11.7, startCeiling: 13.1 },
  { name: '`tool` alone', source: "export { tool } from '@x/server'", ceiling: 0.1, startCeiling: 3.6 },
]

/**
 * Prints the size of the bundle of the smallest server and client, minified and gzipped, with the share of each folder
 * of the source.
 *
 * Method: esbuild bundles the published files for a platform that is not Node, and zlib compresses the bundle at its
 * highest level. A test enforces the ceilings. The code that a program loads at its start is measured with code
 * splitting. Not measured: the code of an application, and brotli.
 */
export async function run(): Promise<void> {
  for (const { name, source, ceiling, startCeiling } of bundles) {
    const { minified, gzipped } = await measureBundle(source)
    const start = await measureBundle(source, { splitting: true })
    // Published files do not show the modules. Those of the source are 1 to 3 % more in sum, because published ones
    // have marks that let a bundler leave out unused values.
    const { owners } = await measureBundle(source, { conditions: [] })
    print(`${name.padEnd(32)} ${kb(gzipped)} KB gzipped of at most ${ceiling}, ${kb(minified)} KB minified`)
    print(`  loaded at its start ${kb(start.gzipped)} KB gzipped of at most ${startCeiling}`)
    for (const [owner, bytes] of [...owners].toSorted(([, a], [, b]) => b - a))
      print(`  ${owner.padEnd(44)} ${kb(bytes)} KB minified`)
  }
}

function kb(bytes: number): string {
  return (bytes / 1000).toFixed(1).padStart(6)
}

/** The size of a bundle in bytes, and before gzip the bytes of each package, or of each folder of the source. */
export interface BundleSize {
  readonly minified: number
  readonly gzipped: number
  readonly owners: ReadonlyMap<string, number>
}

/** Bundles a program for a platform that is not Node. With splitting, what `import()` loads later does not count. */
export async function measureBundle(
  source: string,
  { splitting = false, conditions = ['dist'] }: { splitting?: boolean; conditions?: string[] } = {},
): Promise<BundleSize> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    splitting,
    outdir: 'bundle',
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    conditions,
    logLevel: 'silent',
  })
  const loaded = loadedOutputs(metafile)
  const owners = new Map<string, number>()
  for (const [input, { bytesInOutput }] of loaded.flatMap((path) =>
    Object.entries(metafile.outputs[path]?.inputs ?? {}),
  ))
    owners.set(ownerOf(input), (owners.get(ownerOf(input)) ?? 0) + bytesInOutput)
  const contents = outputFiles.filter(({ path }) => loaded.some((name) => path.endsWith(name)))
  const sum = (size: (bytes: Uint8Array) => number) => contents.reduce((total, file) => total + size(file.contents), 0)
  return {
    minified: sum(({ byteLength }) => byteLength),
    gzipped: sum((bytes) => gzipSync(bytes, { level: 9 }).byteLength),
    owners,
  }
}

/** Returns the paths of the outputs that a program loads at its start. */
function loadedOutputs({ outputs }: Metafile): readonly string[] {
  const loaded = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'))
  for (const path of loaded)
    for (const imported of outputs[path]?.imports ?? [])
      if (imported.kind === 'import-statement') loaded.add(imported.path)
  return [...loaded]
}

function ownerOf(path: string): string {
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  const [, inWorkspace, folder] = /packages\/([^/]+)\/(?:src\/([^/]+)\/)?/.exec(path) ?? []
  if (inModules !== undefined || inWorkspace === undefined) return inModules ?? 'the program'
  return folder === undefined ? `@x/${inWorkspace}` : `@x/${inWorkspace}/${folder}`
}
