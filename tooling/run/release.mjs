import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pnpm, root } from './pnpm.mjs'
import { packed, publish } from './publish.mjs'

const build = ['exec', 'turbo', 'run', 'build', '--filter=./packages/*', '--output-logs=errors-only']

process.exitCode = await release(process.argv.slice(2))

/**
 * Builds, verifies, packs and publishes every public package whose version the registry does not have. `--dry-run` does
 * everything except publishing. `--skip-verify` omits `pnpm verify`, for a tree that has just passed it.
 */
async function release(flags) {
  const dryRun = flags.includes('--dry-run')
  const isVerified = flags.includes('--skip-verify')
  const pending = readdirSync(join(root, '.changeset')).filter((file) => file.endsWith('.md') && file !== 'README.md')
  if (pending.length > 0) {
    console.error(`${pending.length} changesets have no version yet: run pnpm version-packages, and commit the result`)
    if (!dryRun) return 1
  }
  const steps = [
    ['build', () => pnpm(build)],
    ['verify', () => (isVerified ? 0 : pnpm(['run', 'verify']))],
    ['pack', pack],
    ['bill of materials', writeBillOfMaterials],
    ['publish', () => (dryRun ? 0 : publish())],
  ]
  for (const [name, run] of steps) {
    console.log(`— ${name}`)
    if ((await run()) === 0) continue
    console.error(`the release stopped at the step "${name}". The steps after it did not run.`)
    return 1
  }
  if (dryRun) console.log('this was a dry run: nothing was published')
  return 0
}

/** Packs each package as it is published, and prints the sizes of the archives. */
async function pack() {
  rmSync(packed, { recursive: true, force: true })
  mkdirSync(packed, { recursive: true })
  const packages = publicPackages()
  // One process packs all packages, because the start of pnpm takes longer than packing one.
  const filters = packages.flatMap(({ name }) => ['--filter', name])
  const code = await pnpm(['--recursive', ...filters, 'pack', '--pack-destination', packed], { quiet: true })
  if (code !== 0) return code
  for (const { name, version } of packages) {
    const archive = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
    const size = (statSync(join(packed, archive)).size / 1024).toFixed(1)
    console.log(`${`${name}@${version}`.padEnd(32)} ${size.padStart(8)} KiB packed`)
  }
  return 0
}

/** Writes the CycloneDX document of everything that npm installs with the packages (https://cyclonedx.org). */
function writeBillOfMaterials() {
  const folder = mkdtempSync(join(tmpdir(), 'bill-of-materials-'))
  const archives = readdirSync(packed).filter((file) => file.endsWith('.tgz'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', private: true }))
  const npm = (args) => spawnSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const files = archives.map((file) => join(packed, file))
  const steps = [
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...files],
    ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'],
  ]
  for (const step of steps) {
    const { status, stdout, stderr } = npm(step)
    if (status !== 0) {
      console.error(`npm ${step[0]} failed:\n${stderr}`)
      return 1
    }
    if (step[0] === 'sbom') writeFileSync(join(packed, 'sbom.cdx.json'), stdout)
  }
  rmSync(folder, { recursive: true, force: true })
  return 0
}

function publicPackages() {
  const folder = join(root, 'packages')
  return readdirSync(folder).flatMap((name) => {
    const manifest = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'))
    return manifest.private ? [] : [{ name: manifest.name, version: manifest.version }]
  })
}
