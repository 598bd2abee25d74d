import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** A program that is bundled as an application would be, and what it may weigh. */
export interface BundleRow {
  readonly name: string
  readonly source: string
  /**
   * The most that it may weigh, minified and gzipped, in bytes. It goes down with what is saved, and up for a reason.
   */
  readonly ceiling: number
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
  { name: 'server, a tool with zod', source: server(zodTool), ceiling: 102.5 * kilobyte },
  { name: 'server, a tool with JSON Schema', source: server(plainTool), ceiling: 77.8 * kilobyte },
  // 37.4 before the events of calls, which extensions observe.
  { name: 'client, in a browser', source: client, ceiling: 37.9 * kilobyte },
]

/** What a bundle weighs in bytes, and the packages in it with their share before gzip. */
export interface BundleSize {
  readonly minified: number
  readonly gzipped: number
  readonly packages: ReadonlyMap<string, number>
  /** The same for each file. */
  readonly files: ReadonlyMap<string, number>
}

/** Bundles a program for a platform that is not Node, and weighs it. */
export async function weigh(source: string): Promise<BundleSize> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    conditions: ['dist'],
    logLevel: 'silent',
  })
  const [file] = outputFiles
  const [output] = Object.values(metafile.outputs)
  if (file === undefined || output === undefined) throw new Error('esbuild gave no bundle')
  const packages = new Map<string, number>()
  const files = new Map<string, number>()
  for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
    const name = packageOf(path)
    packages.set(name, (packages.get(name) ?? 0) + bytesInOutput)
    files.set(fileOf(path), bytesInOutput)
  }
  const gzipped = gzipSync(file.contents, { level: 9 }).byteLength
  return { minified: file.contents.byteLength, gzipped, packages, files }
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
