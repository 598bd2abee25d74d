import { bundles, weigh } from './bundle/bundles.ts'

/**
 * What the smallest server and client weigh as a bundle, minified and gzipped, and what of it is whose.
 *
 * Method: esbuild bundles what is published, for a platform that is not Node, and zlib packs it at its best. A test holds the
 * ceilings. Not measured: what an application's own code adds, and brotli.
 */
export async function run(): Promise<void> {
  for (const { name, source, ceiling } of bundles) {
    const { minified, gzipped, packages } = await weigh(source)
    print(`${name.padEnd(32)} ${kb(gzipped)} KB gzipped of at most ${kb(ceiling)}, ${kb(minified)} KB minified`)
    for (const [owner, bytes] of [...packages].sort(([, a], [, b]) => b - a))
      print(`  ${owner.padEnd(30)} ${kb(bytes)} KB minified`)
  }
}

function kb(bytes: number): string {
  return (bytes / 1000).toFixed(1).padStart(6)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
