import { gzipSync } from 'node:zlib'
import { type BuildResult, build, type Metafile } from 'esbuild'

/** A program that is bundled as an application would be, and what it may weigh. */
export interface BundleRow {
  readonly name: string
  readonly source: string
  /**
   * The most that it may weigh, minified and gzipped, in bytes. It goes down with what is saved, and up for a reason.
   */
  readonly ceiling: number
  /** The same for what is loaded when the program starts. A bundler that splits puts the rest into files of its own. */
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

/** The smallest programs that do something. */
export const bundles: readonly BundleRow[] = [
  {
    name: 'server, a tool with zod',
    source: server(zodTool),
    ceiling: 103.8 * kilobyte,
    startCeiling: 96.9 * kilobyte,
  },
  {
    name: 'server, a tool with JSON Schema',
    source: server(plainTool),
    ceiling: 78.9 * kilobyte,
    startCeiling: 71.9 * kilobyte,
  },
  // 37.4 before the events of calls, which extensions observe.
  { name: 'client, in a browser', source: client, ceiling: 37.9 * kilobyte, startCeiling: 37.9 * kilobyte },
]

/** The weight of a bundle in bytes, and the packages in it with their share before gzip. */
export interface BundleSize {
  readonly minified: number
  readonly gzipped: number
  readonly packages: ReadonlyMap<string, number>
  /** The same for each file. */
  readonly files: ReadonlyMap<string, number>
}

/** Bundles a program for a platform that is not Node into one file, and weighs it. */
export async function measureBundle(source: string): Promise<BundleSize> {
  const { outputFiles, metafile } = await bundle(source, { splitting: false })
  const [file] = outputFiles
  const [output] = Object.values(metafile.outputs)
  if (file === undefined || output === undefined) throw new Error('esbuild gave no bundle')
  const { packages, files } = sharesOf(output)
  return { minified: file.contents.byteLength, gzipped: gzippedBytes(file.contents), packages, files }
}

/** Weighs the modules that a program loads at its start. A bundler that splits puts those of `import()` elsewhere. */
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
    for (const [name, bytes] of sharesOf(outputs[path]).packages) packages.set(name, (packages.get(name) ?? 0) + bytes)
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

type Shares = Pick<BundleSize, 'packages' | 'files'>

/** The share of each package and file in an output of esbuild. */
function sharesOf(output: Metafile['outputs'][string] | undefined): Shares {
  const packages = new Map<string, number>()
  const files = new Map<string, number>()
  for (const [path, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
    const name = packageOf(path)
    packages.set(name, (packages.get(name) ?? 0) + bytesInOutput)
    files.set(fileOf(path), bytesInOutput)
  }
  return { packages, files }
}

/** A file's path from the name of its package on. */
function fileOf(path: string): string {
  const inPackage = /(?:.*node_modules\/(?:@[^/]+\/)?[^/]+|packages\/[^/]+)(\/.*)/.exec(path)?.[1] ?? ''
  return packageOf(path) + inPackage
}

function packageOf(path: string): string {
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  const inWorkspace = /packages\/([^/]+)\//.exec(path)?.[1]
  return inModules ?? (inWorkspace === undefined ? 'the program' : `@x/${inWorkspace}`)
}
