import { dirname, join, resolve } from 'node:path'
import { importsOf, parseSource } from './syntax.mjs'
import { folderLayers } from './layers.mjs'
import { problem } from './report.mjs'
import { isTest } from './workspace.mjs'

/**
 * Reports the imports of a package that point to a higher layer, or to a folder without a layer.
 * @param {string} root
 * @param {string} folder Such as `packages/server`.
 * @param {{ files: readonly string[], layers?: Readonly<Record<string, string>> }} tree
 * @returns {string[]}
 */
export function folderProblems(root, folder, { files, layers = folderLayers }) {
  const order = layers[folder.slice('packages/'.length)]?.split(' ')
  if (order === undefined) return []
  const source = `${folder}/src`
  const shipped = files.filter((file) => file.startsWith(`${source}/`) && file.endsWith('.ts') && !isTest(file))
  return shipped.flatMap((file) =>
    importsOf(parseSource(join(root, file)))
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => resolve('/', dirname(file), specifier).slice(1))
      .filter((target) => !pointsDown(order, layerOf(order, source, file), layerOf(order, source, target)))
      .map((target) =>
        problem(
          `${file} imports ${target}`,
          `an import points down: move the code, or the folder in folderLayers of tooling/checks/src/layers.mjs`,
        ),
      ),
  )
}

/** @param {readonly string[]} order @param {string} from @param {string} to */
function pointsDown(order, from, to) {
  const [upper, lower] = [order.indexOf(from), order.indexOf(to)]
  return upper !== -1 && lower !== -1 && upper <= lower
}

/**
 * Returns the row of a file: the file itself, or its nearest parent folder with a row.
 * @param {readonly string[]} order
 * @param {string} source
 * @param {string} file
 */
function layerOf(order, source, file) {
  const path = file.slice(source.length + 1)
  if (!path.includes('/') && !order.includes(path)) return '.'
  const rows = order.filter((row) => path === row || path.startsWith(`${row}/`))
  return rows.toSorted((one, other) => other.length - one.length)[0] ?? path
}
