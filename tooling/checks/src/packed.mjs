import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { filterProblems, problemKindInfo } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { problem } from './report.mjs'
import { unreachedScripts } from './unreached.mjs'

const run = promisify(execFile)

/** @typedef {import('./workspace.mjs').Package} Package */

/**
 * Checks the files and the types of a package that was packed.
 * @param {Package} one
 * @param {string} tarballs The folder of the tarballs.
 */
export async function packedProblems(one, tarballs) {
  const [name, version] = [one.name.replace(/^@/, '').replace('/', '-'), one.manifest.version]
  const tarball = join(tarballs, `${name}-${version}.tgz`)
  const unpacked = mkdtempSync(join(tarballs, 'unpacked-'))
  await run('tar', ['-xzf', tarball, '-C', unpacked])
  return [
    ...shippedProblems(one, join(unpacked, 'package')),
    ...(await publintProblems(one, join(unpacked, 'package'))),
    ...(await typesProblems(one, tarball)),
  ]
}

/**
 * @param {Package} one
 * @param {string} shipped The unpacked tarball.
 */
function shippedProblems(one, shipped) {
  const manifest = readFileSync(join(shipped, 'package.json'), 'utf8')
  const files = readdirSync(shipped, { recursive: true, encoding: 'utf8' })
  const { exports, bin = {} } = JSON.parse(manifest)
  // A template is a project for a user, which includes a test.
  const ownFiles = files.filter((file) => !file.startsWith('templates/'))
  const stray = ownFiles.filter((file) => /\.test\.|(^|\/)testing\/|\.tsbuildinfo$|^src\//.test(file))
  return [
    ...(/"workspace:/.test(manifest)
      ? [problem(`${one.folder} packs a manifest with workspace:`, 'pack it with pnpm')]
      : []),
    ...(/"\.\/src\//.test(manifest)
      ? [problem(`${one.folder} packs a manifest that names src`, 'correct publishConfig')]
      : []),
    ...stray.map((file) =>
      problem(`${one.folder} ships ${file}`, 'exclude it in tsconfig.build.json, and build again'),
    ),
    ...unreachedScripts(shipped, { exports, bin }).map((file) =>
      problem(`${one.folder} ships ${file}, which no entry imports`, 'remove dist, and build again'),
    ),
  ]
}

/**
 * @param {Package} one
 * @param {string} shipped
 */
async function publintProblems(one, shipped) {
  const { messages, pkg } = await publint({ pkgDir: shipped, pack: false, level: 'warning', strict: true })
  return messages.map((message) =>
    problem(
      `${one.folder}: publint reports ${message.code}`,
      formatMessage(message, pkg, { color: false }) ?? message.code,
    ),
  )
}

/** How a consumer of ES modules finds types. */
const resolutions = /** @type {const} */ (['node16-esm', 'bundler'])

/**
 * @param {Package} one
 * @param {string} tarball
 */
async function typesProblems(one, tarball) {
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
  if (analysis.types === false) return [problem(`${one.folder} ships no types`, 'build it again')]
  return resolutions.flatMap((resolutionKind) =>
    filterProblems(analysis, { resolutionKind }).map((found) => {
      const entry = 'entrypoint' in found ? `, entry ${found.entrypoint}` : ''
      const { title, description } = problemKindInfo[found.kind]
      return problem(`${one.folder}: ${title} (${resolutionKind}${entry})`, description)
    }),
  )
}
