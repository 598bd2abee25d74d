import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packedProblems } from './packed.mjs'
import { problem, runCheck } from './report.mjs'
import { pick } from './resolve.mjs'
import { listPackages } from './workspace.mjs'

const run = promisify(execFile)

/** @typedef {import('./workspace.mjs').Package} Package */

/**
 * Packs each public package as it is published, and checks its manifest, its files and its types.
 * @param {string} root
 */
export async function checkPackageShape(root) {
  const packages = listPackages(root).filter(({ manifest }) => manifest.private !== true)
  const built = packages.filter(({ directory }) => existsSync(join(directory, 'dist')))
  const problems = [
    ...packages.flatMap(manifestProblems),
    ...packages
      .filter((one) => !built.includes(one))
      .map(({ folder }) => problem(`${folder} is not built`, 'run pnpm build, and repeat this check')),
  ]
  const tarballs = mkdtempSync(join(tmpdir(), 'package-shape-'))
  try {
    const filters = built.flatMap(({ name }) => ['--filter', name])
    await run('pnpm', ['--recursive', ...filters, 'pack', '--pack-destination', tarballs], { cwd: root })
    for (const one of built) problems.push(...(await packedProblems(one, tarballs)))
  } finally {
    rmSync(tarballs, { recursive: true, force: true })
  }
  return problems
}

/**
 * Checks the manifest of a package.
 * @param {Package} one
 * @returns {string[]}
 */
export function manifestProblems(one) {
  const { manifest, directory, folder } = one
  /** @type {readonly (readonly [boolean, string, string])[]} */
  const rules = [
    [manifest.type === 'module', 'is not "type": "module"', 'packages are ESM only'],
    [manifest.sideEffects === false, 'has no "sideEffects": false', 'an import must have no side effects'],
    [
      manifest.publishConfig?.access === 'public',
      'has no "publishConfig.access": "public"',
      'add it: the scope is private without it',
    ],
    [
      manifest.files?.includes('dist') === true,
      'does not list dist in "files"',
      'add it: no other files are published',
    ],
    [manifest.engines?.node !== undefined, 'has no "engines.node"', 'write the required version of Node'],
    [(manifest.description ?? '') !== '', 'has no "description"', 'write one line for the registry'],
    [manifest.license !== undefined, 'has no "license"', 'add "MIT"'],
    [(manifest.keywords?.length ?? 0) > 0, 'has no "keywords"', 'write terms for the search of the registry'],
    [
      manifest.repository?.directory === folder && manifest.homepage !== undefined && manifest.bugs !== undefined,
      'lacks "repository" with its directory, "homepage" or "bugs"',
      'copy them from another package: the page of the registry links to them',
    ],
    [existsSync(join(directory, 'README.md')), 'has no README.md', 'begin it with one sentence and one program'],
  ]
  return [
    ...rules
      .filter(([isSatisfied]) => !isSatisfied)
      .map(([, what, remedy]) => problem(`${folder}/package.json ${what}`, remedy)),
    ...exportsProblems(one),
    ...peerProblems(one),
  ]
}

/**
 * Checks the ranges of peer dependencies on siblings. With `workspace:^`, each minor version of the peer requires a
 * major version of this package.
 * @param {Package} one
 */
function peerProblems({ manifest, folder }) {
  return Object.entries(manifest.peerDependencies ?? {})
    .filter(([name, range]) => name.startsWith('@x/') && !/^>=\d+\.\d+\.\d+ <\d+$/.test(range))
    .map(([name, range]) =>
      problem(
        `${folder}/package.json has the peer ${name} with the range ${range}`,
        'write the oldest supported version and the next major version, as ">=0.1.0 <1"',
      ),
    )
}

/**
 * Compares the entries of the workspace with the published ones. An entry outside of `src` is for the workspace alone.
 * @param {Package} one
 */
function exportsProblems({ manifest, folder }) {
  const entries = Object.entries(manifest.exports ?? {})
  const inside = entries.filter(([, target]) => JSON.stringify(target).includes('./src/')).map(([entry]) => entry)
  const published = Object.keys(manifest.publishConfig?.exports ?? {})
  const uneven = [
    ...inside.filter((entry) => !published.includes(entry)).map((entry) => [entry, 'publishConfig.exports']),
    ...published.filter((entry) => !inside.includes(entry)).map((entry) => [entry, 'exports']),
  ]
  const unlike = inside.filter((entry) => published.includes(entry) && !sameTargets(manifest, entry))
  return [
    ...uneven.map(([entry, where]) =>
      problem(`${folder}/package.json lacks ${entry} in "${where}"`, 'both must list the same entries'),
    ),
    ...unlike.map((entry) =>
      problem(
        `${folder}/package.json: "dist" of ${entry} differs from publishConfig.exports`,
        'write the same targets in both',
      ),
    ),
  ]
}

/**
 * Returns true if an entry has the same built files in the workspace, with the condition `dist`, and in the published
 * package.
 * @param {import('./workspace.mjs').Manifest} manifest
 * @param {string} entry
 */
function sameTargets(manifest, entry) {
  const inside = manifest.exports?.[entry]
  const published = manifest.publishConfig?.exports?.[entry]
  const consumers = [[], ['types'], ['node'], ['node', 'types']]
  return consumers.every((conditions) => pick(inside, ['dist', ...conditions]) === pick(published, conditions))
}

await runCheck(import.meta.url, checkPackageShape)
