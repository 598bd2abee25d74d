import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { output, pnpm, root } from './pnpm.mjs'

const packed = join(root, '.results', 'packed')
const build = ['exec', 'turbo', 'run', 'build', '--filter=./packages/*', '--output-logs=errors-only']

process.exitCode = await release(process.argv.slice(2))

/**
 * Builds, verifies, packs and publishes every public package whose version the registry does not have. `--dry-run` does
 * everything except publishing. `--skip-verify` omits `pnpm verify`, for a tree that has just passed it.
 */
async function release(flags) {
  const dryRun = flags.includes('--dry-run')
  const isVerified = flags.includes('--skip-verify')
  const targetProblem = dryRun ? undefined : await findTargetProblem()
  if (targetProblem !== undefined) {
    console.error(targetProblem)
    return 1
  }
  const pending = readdirSync(join(root, '.changeset')).filter((file) => file.endsWith('.md') && file !== 'README.md')
  if (pending.length > 0) {
    console.error(`${pending.length} changesets have no version yet: run pnpm version-packages, and commit the result`)
    if (!dryRun) return 1
  }
  const steps = [
    ['build', () => pnpm(build)],
    ['verify', () => (isVerified ? 0 : pnpm(['run', 'verify']))],
    ['pack', pack],
    ['publish', () => publish(dryRun)],
    ['tag', () => (dryRun ? 0 : pnpm(['exec', 'changeset', 'tag']))],
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

/** Returns the reason why the configured registry must not receive the packages, or undefined. */
async function findTargetProblem() {
  const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { hostname, pathname } = new URL(homepage)
  const scoped = await output(['config', 'get', '@x:registry'])
  const registry = scoped === 'undefined' ? await output(['config', 'get', 'registry']) : scoped
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(registry).hostname)
  if (isLocal || !hostname.endsWith('.example')) return undefined
  return [
    `${homepage}, the "homepage" in package.json, is a placeholder, so no package is published.`,
    'Put the URL of the repository into "homepage", "bugs" and "repository" of package.json and of every',
    'packages/*/package.json, and into the links of READMEs and SECURITY.md. One command replaces all of them:',
    `  git grep -l '${hostname}${pathname}' | xargs sed -i 's#${hostname}${pathname}#<host>/<path of the repository>#g'`,
  ].join('\n')
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

function publish(dryRun) {
  // A release requires a clean tree. A dry run does not.
  const flags = dryRun ? ['--dry-run', '--no-git-checks'] : []
  // npm prints every file of every archive as a notice, and warns about settings of pnpm.
  const env = { npm_config_loglevel: 'error' }
  return pnpm(['publish', '--recursive', '--access', 'public', ...flags], { env })
}

function publicPackages() {
  const folder = join(root, 'packages')
  return readdirSync(folder).flatMap((name) => {
    const manifest = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'))
    return manifest.private ? [] : [{ name: manifest.name, version: manifest.version }]
  })
}
