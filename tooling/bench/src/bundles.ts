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

/** The smallest programs of a server and a client. */
export const bundles: readonly BundleRow[] = [
  // What names the mistakes of a definition, of a handler and of programs without types takes 2 KB, the one table of rules
  // for fields of forms 0.6 KB.
  {
    name: 'server, a tool with zod',
    source: server(zodTool),
    ceiling: 112.1 * kilobyte,
    startCeiling: 105.3 * kilobyte,
  },
  {
    name: 'server, a tool with JSON Schema',
    source: server(plainTool),
    ceiling: 87.4 * kilobyte,
    startCeiling: 80.6 * kilobyte,
  },
  // The events of calls take 0.5 KB. The state of a connection, the limit of its calls, and whether a failed call may have
  // run take 1.7 KB.
  { name: 'client, in a browser', source: client, ceiling: 41.5 * kilobyte, startCeiling: 41.5 * kilobyte },
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

function bundle(
  source: string,
  { splitting }: { readonly splitting: boolean },
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
    conditions: ['dist'],
    logLevel: 'silent',
  })
}

function gzippedBytes(contents: Uint8Array): number {
  return gzipSync(contents, { level: 9 }).byteLength
}

/** Returns the bytes of each package in an output of esbuild. */
function packagesIn(output: Metafile['outputs'][string] | undefined): ReadonlyMap<string, number> {
  const packages = new Map<string, number>()
  for (const [path, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
    const name = packageOf(path)
    packages.set(name, (packages.get(name) ?? 0) + bytesInOutput)
  }
  return packages
}

function packageOf(path: string): string {
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  const inWorkspace = /packages\/([^/]+)\//.exec(path)?.[1]
  return inModules ?? (inWorkspace === undefined ? 'the program' : `@x/${inWorkspace}`)
}
