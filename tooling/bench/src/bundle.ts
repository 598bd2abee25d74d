import { bundles, measureBundle, measureStart } from './bundles.ts'

const shownFiles = 15

/**
 * Prints the size of the bundle of the smallest server and client, minified and gzipped, with the share of each
 * package.
 *
 * Method: esbuild bundles the published files for a platform that is not Node, and zlib compresses the bundle at its
 * highest level. A test enforces the ceilings. The code that a program loads at its start is measured with code
 * splitting. Not measured: the code of an application, and brotli.
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
