import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { output, pnpm, root } from './pnpm.mjs'

const packed = join(root, '.results', 'packed')
const build = ['exec', 'turbo', 'run', 'build', '--filter=./packages/*', '--output-logs=errors-only']

process.exitCode = await release(process.argv.slice(2))

/**
 * Builds, verifies, packs and publishes every public package whose version the registry does not have. `--dry-run` does
 * all of it but the publishing; `--skip-verify` trusts a `pnpm verify` that has just passed.
 */
async function release(flags) {
  const dryRun = flags.includes('--dry-run')
  const isVerified = flags.includes('--skip-verify')
  const refused = dryRun ? undefined : await refusedTarget()
  if (refused !== undefined) {
    console.error(refused)
    return 1
  }
  const left = readdirSync(join(root, '.changeset')).filter((file) => file.endsWith('.md') && file !== 'README.md')
  if (left.length > 0) {
    console.error(`${left.length} changesets have no version yet: run pnpm version-packages, and commit what it writes`)
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
    console.error(`the release stopped at "${name}"; nothing after it was done`)
    return 1
  }
  if (dryRun) console.log('this was a dry run: nothing was published')
  return 0
}

/** The reason for which nothing may be published to the registry that is set; undefined when it may. */
async function refusedTarget() {
  const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { hostname, pathname } = new URL(homepage)
  const scoped = await output(['config', 'get', '@x:registry'])
  const registry = scoped === 'undefined' ? await output(['config', 'get', 'registry']) : scoped
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(registry).hostname)
  if (isLocal || !hostname.endsWith('.example')) return undefined
  return [
    `${homepage}, the "homepage" in package.json, is a placeholder: nothing is published under it.`,
    'Put the address of the repository into "homepage", "bugs" and "repository" of package.json and of every',
    'packages/*/package.json, and into the links of READMEs and SECURITY.md. One command replaces all of them:',
    `  git grep -l '${hostname}${pathname}' | xargs sed -i 's#${hostname}${pathname}#<host>/<path of the repository>#g'`,
  ].join('\n')
}

/** Packs each package as it would be published, and prints what the archives hold. */
async function pack() {
  rmSync(packed, { recursive: true, force: true })
  mkdirSync(packed, { recursive: true })
  const packages = publicPackages()
  // One pnpm for all of them: each start of it costs more than a package.
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
  // A dry run is for trying, so the tree may have changes; a release is made from a commit.
  const flags = dryRun ? ['--dry-run', '--no-git-checks'] : []
  // npm lists every file of every archive as a notice, and warns of settings that are pnpm's.
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
