import { gzipSync } from 'node:zlib'
import { type BuildResult, build, type Metafile } from 'esbuild'

/** A program to bundle like an application, with the ceilings of its size. */
export interface BundleRow {
  readonly name: string
  readonly source: string
  /**
   * The largest size, minified and gzipped, in bytes. A change that saves bytes lowers it. A change that raises it
   * needs a reason.
   */
  readonly ceiling: number
  /** The largest size of the code that the program loads at its start, if the bundler splits the code. */
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

const kilobyte = 1000

/** The smallest programs of a server and a client, and what one function alone carries. */
export const bundles: readonly BundleRow[] = [
  // What names the mistakes of a definition, of a handler and of programs without types takes 2 KB, the one table of rules
  // for fields of forms 0.6 KB, and the check of their answers, which keeps the validator out of `form`, 0.4 KB.
  {
    name: 'server, a tool with zod',
    source: server(zodTool),
    ceiling: 112.5 * kilobyte,
    startCeiling: 104.2 * kilobyte,
  },
  {
    name: 'server, a tool with JSON Schema',
    source: server(plainTool),
    ceiling: 87.8 * kilobyte,
    startCeiling: 79.3 * kilobyte,
  },
  // The events of calls take 0.5 KB. The state of a connection, the limit of its calls, and whether a failed call may have
  // run take 1.7 KB.
  { name: 'client, in a browser', source: client, ceiling: 41.4 * kilobyte, startCeiling: 41.4 * kilobyte },
  {
    name: '`createClient` alone',
    source: "export { createClient } from '@x/client'",
    ceiling: 29.8 * kilobyte,
    startCeiling: 29.8 * kilobyte,
  },
  // A bundler that splits loads more of it at the start than one that does not, because it keeps what the modules behind
  // `import()` share with the entry.
  {
    name: '`form` alone',
    source: "export { form } from '@x/server'",
    ceiling: 11.7 * kilobyte,
    startCeiling: 13.1 * kilobyte,
  },
  {
    name: '`tool` alone',
    source: "export { tool } from '@x/server'",
    ceiling: 0.1 * kilobyte,
    startCeiling: 3.6 * kilobyte,
  },
]

/** The size of a bundle in bytes, and the bytes of each package in it before gzip. */
export interface BundleSize {
  readonly minified: number
  readonly gzipped: number
  readonly packages: ReadonlyMap<string, number>
}

/** Bundles a program into one file for a platform that is not Node, and measures its size. */
export async function measureBundle(source: string): Promise<BundleSize> {
  const { outputFiles, metafile } = await bundle(source, { splitting: false })
  const [file] = outputFiles
  const [output] = Object.values(metafile.outputs)
  if (file === undefined || output === undefined) throw new Error('esbuild returned no bundle')
  return { minified: file.contents.byteLength, gzipped: gzippedBytes(file.contents), packages: packagesIn(output) }
}

/** Measures the size of the modules that a program loads at its start, without those of `import()`. */
export async function measureStart(source: string): Promise<Pick<BundleSize, 'gzipped' | 'packages'>> {
  const { outputFiles, metafile } = await bundle(source, { splitting: true })
  const { outputs } = metafile
  const loaded = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'))
  for (const path of loaded) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') loaded.add(imported)
    }
  }
  const packages = new Map<string, number>()
  for (const path of loaded) {
    for (const [name, bytes] of packagesIn(outputs[path])) packages.set(name, (packages.get(name) ?? 0) + bytes)
  }
  const contents = outputFiles.filter(({ path }) => [...loaded].some((name) => path.endsWith(name)))
  return { gzipped: contents.reduce((sum, file) => sum + gzippedBytes(file.contents), 0), packages }
}

/**
 * Measures the bytes of each folder before gzip. It bundles the source, whose modules are no longer visible in published
 * files. The sum is 1 to 3 % more, because published files have marks that let a bundler leave out unused values.
 */
export async function measureFolders(source: string): Promise<ReadonlyMap<string, number>> {
  const { metafile } = await bundle(source, { splitting: false, conditions: [] })
  return bytesBy(folderOf, Object.values(metafile.outputs)[0])
}

interface BundleSettings {
  readonly splitting: boolean
  readonly conditions?: string[]
}

function bundle(
  source: string,
  { splitting, conditions = ['dist'] }: BundleSettings,
): Promise<BuildResult<{ write: false; metafile: true }>> {
  return build({
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
}

function gzippedBytes(contents: Uint8Array): number {
  return gzipSync(contents, { level: 9 }).byteLength
}

type Output = Metafile['outputs'][string] | undefined

/** Returns the bytes of each package in an output of esbuild. */
function packagesIn(output: Output): ReadonlyMap<string, number> {
  return bytesBy(packageOf, output)
}

function bytesBy(ownerOf: (path: string) => string, output: Output): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>()
  for (const [path, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
    const owner = ownerOf(path)
    bytes.set(owner, (bytes.get(owner) ?? 0) + bytesInOutput)
  }
  return bytes
}

function folderOf(path: string): string {
  const folder = /packages\/[^/]+\/src\/([^/]+)\//.exec(path)?.[1]
  return folder === undefined ? packageOf(path) : `${packageOf(path)}/${folder}`
}

function packageOf(path: string): string {
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  const inWorkspace = /packages\/([^/]+)\//.exec(path)?.[1]
  return inModules ?? (inWorkspace === undefined ? 'the program' : `@x/${inWorkspace}`)
}
