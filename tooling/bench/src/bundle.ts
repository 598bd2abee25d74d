import { bundles, measureBundle, measureStart } from './bundle/bundles.ts'

const shownFiles = 15

/**
 * What the smallest server and client weigh as a bundle, minified and gzipped, and what of it is whose.
 *
 * Method: esbuild bundles what is published, for a platform that is not Node, and zlib packs it at its best. A test
 * holds the ceilings. What a program loads at its start is weighed where esbuild splits. Not measured: what an application's own code adds, and brotli.
 */
export async function run(): Promise<void> {
  for (const { name, source, ceiling, startCeiling } of bundles) {
    const { minified, gzipped, packages, files } = await measureBundle(source)
    print(`${name.padEnd(32)} ${kb(gzipped)} KB gzipped of at most ${kb(ceiling)}, ${kb(minified)} KB minified`)
    print(`  loaded at its start ${kb((await measureStart(source)).gzipped)} KB gzipped of at most ${kb(startCeiling)}`)
    for (const [owner, bytes] of largest(packages)) print(`  ${owner.padEnd(44)} ${kb(bytes)} KB minified`)
    print('  of that the largest files')
    for (const [path, bytes] of largest(files).slice(0, shownFiles)) print(`    ${path.padEnd(42)} ${kb(bytes)} KB`)
  }
}

function largest(sizes: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...sizes].toSorted(([, a], [, b]) => b - a)
}

function kb(bytes: number): string {
  return (bytes / 1000).toFixed(1).padStart(6)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
