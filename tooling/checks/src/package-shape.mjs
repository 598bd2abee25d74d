import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { filterProblems, problemKindInfo } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { problem, runCheck } from './report.mjs'
import { pick } from './resolve.mjs'
import { listPackages } from './workspace.mjs'

const run = promisify(execFile)

/** @typedef {import('./workspace.mjs').Package} Package */

/** How a consumer of ES modules finds types. */
const resolutions = /** @type {const} */ (['node16-esm', 'bundler'])

/**
 * Packs each public package as it is published, and checks its manifest, its files and its types.
 * @param {string} root
 */
export async function checkPackageShape(root) {
  const packages = listPackages(root).filter(({ manifest }) => manifest.private !== true)
  const unbuilt = packages.filter(({ directory }) => !existsSync(join(directory, 'dist')))
  if (unbuilt.length > 0) {
    return unbuilt.map(({ folder }) => problem(`${folder} is not built`, 'run pnpm build, and repeat this check'))
  }
  const problems = packages.flatMap(manifestProblems)
  const tarballs = mkdtempSync(join(tmpdir(), 'package-shape-'))
  try {
    const filters = packages.flatMap(({ name }) => ['--filter', name])
    await run('pnpm', ['--recursive', ...filters, 'pack', '--pack-destination', tarballs], { cwd: root })
    for (const one of packages) problems.push(...(await packedProblems(one, tarballs)))
  } finally {
    rmSync(tarballs, { recursive: true, force: true })
  }
  return problems
}

/**
 * Checks what npm shows of a package, and that the workspace and the published package have the same entries.
 * @param {Package} one
 * @returns {string[]}
 */
export function manifestProblems({ manifest, folder }) {
  /** @type {readonly (readonly [boolean, string, string])[]} */
  const rules = [
    [manifest.sideEffects === false, '"sideEffects": false', 'add it: an import has no side effects'],
    [manifest.publishConfig?.access === 'public', '"publishConfig.access": "public"', 'add it: the scope is private'],
    [manifest.engines?.node !== undefined, '"engines.node"', 'write the required version of Node'],
    [
      [manifest.description, manifest.keywords, manifest.license, manifest.homepage, manifest.bugs].every(Boolean) &&
        manifest.repository?.directory === folder,
      '"description", "keywords", "license", "homepage", "bugs" or "repository" with its directory',
      'copy them from another package: the page of the registry shows them',
    ],
  ]
  const peers = Object.entries(manifest.peerDependencies ?? {})
    .filter(([name, range]) => name.startsWith('@x/') && !/^>=\d+\.\d+\.\d+ <\d+$/.test(range))
    .map(([name, range]) => {
      const remedy = 'write the oldest supported version and the next major version, as ">=0.1.0 <1"'
      return problem(`${folder}/package.json has the peer ${name} with the range ${range}`, remedy)
    })
  const inside = Object.entries(manifest.exports ?? {}).filter(([, target]) =>
    JSON.stringify(target).includes('./src/'),
  )
  const entries = new Set([...inside.map(([entry]) => entry), ...Object.keys(manifest.publishConfig?.exports ?? {})])
  const unlike = [...entries]
    .filter((entry) => !hasSameTargets(manifest, entry))
    .map((entry) =>
      problem(
        `${folder}/package.json: ${entry} of "exports" and of "publishConfig" differ`,
        'write the same files of dist in both',
      ),
    )
  return [
    ...rules
      .filter(([isSatisfied]) => !isSatisfied)
      .map(([, what, remedy]) => problem(`${folder}/package.json lacks ${what}`, remedy)),
    ...peers,
    ...unlike,
  ]
}

/**
 * Returns true if an entry has the same built files in the workspace, with the condition `dist`, and when published.
 * @param {import('./workspace.mjs').Manifest} manifest
 * @param {string} entry
 */
function hasSameTargets(manifest, entry) {
  const [inside, published] = [manifest.exports?.[entry], manifest.publishConfig?.exports?.[entry]]
  return [[], ['types'], ['node'], ['node', 'types']].every((conditions) => {
    const target = pick(published, conditions)
    return target !== undefined && pick(inside, ['dist', ...conditions]) === target
  })
}

/** @param {Package} one @param {string} tarballs The folder of the tarballs. */
async function packedProblems({ name, manifest: { version }, folder }, tarballs) {
  const tarball = join(tarballs, `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`)
  const unpacked = mkdtempSync(join(tarballs, 'unpacked-'))
  await run('tar', ['-xzf', tarball, '-C', unpacked])
  const pkgDir = join(unpacked, 'package')
  const manifest = readFileSync(join(pkgDir, 'package.json'), 'utf8')
  const files = readdirSync(pkgDir, { recursive: true, encoding: 'utf8' })
  // A template is a project for a user, which includes a test.
  const stray = files.filter((file) => /^(?!templates\/).*(?:\.test\.|\btesting\/|\.tsbuildinfo$)|^src\//.test(file))
  const { messages, pkg } = await publint({ pkgDir, pack: false, level: 'warning', strict: true })
  return [
    ...(/"workspace:|"\.\/src\//.test(manifest)
      ? [problem(`${folder} packs a manifest for the workspace`, 'pack it with pnpm, and correct publishConfig')]
      : []),
    ...stray.map((file) => problem(`${folder} ships ${file}`, 'exclude it in tsconfig.build.json, and build again')),
    ...messages.map((message) =>
      problem(`${folder}: publint reports ${message.code}`, formatMessage(message, pkg, { color: false }) ?? ''),
    ),
    ...(await typesProblems(folder, tarball)),
  ]
}

/** @param {string} folder @param {string} tarball */
async function typesProblems(folder, tarball) {
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
  if (analysis.types === false) return [problem(`${folder} ships no types`, 'list dist in "files", and build it again')]
  return resolutions.flatMap((resolutionKind) =>
    filterProblems(analysis, { resolutionKind }).map((found) => {
      const entry = 'entrypoint' in found ? `, entry ${found.entrypoint}` : ''
      const { title, description } = problemKindInfo[found.kind]
      return problem(`${folder}: ${title} (${resolutionKind}${entry})`, description)
    }),
  )
}

await runCheck(import.meta.url, checkPackageShape)
