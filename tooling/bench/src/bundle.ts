import { bundles, measureBundle, measureFolders, measureStart } from './bundles.ts'
import { print } from './ratios.ts'

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
    print(`${name.padEnd(32)} ${kb(gzipped)} KB gzipped of at most ${kb(ceiling)}, ${kb(minified)} KB minified`)
    print(`  loaded at its start ${kb((await measureStart(source)).gzipped)} KB gzipped of at most ${kb(startCeiling)}`)
    for (const [owner, bytes] of [...(await measureFolders(source))].toSorted(([, a], [, b]) => b - a))
      print(`  ${owner.padEnd(44)} ${kb(bytes)} KB minified`)
  }
}

function kb(bytes: number): string {
  return (bytes / 1000).toFixed(1).padStart(6)
}
