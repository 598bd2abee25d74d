import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Where `pnpm release` puts the archives, and from where they are published. */
export const packed = join(root, '.results', 'packed')

if (import.meta.filename === process.argv[1]) process.exitCode = publish()

/**
 * Publishes the packed archives whose version the registry does not have, and tags the commit with each. It needs Node,
 * npm, tar and Git alone, so that the job with the right to publish installs nothing. Returns the exit code.
 */
export function publish() {
  const problem = findTargetProblem()
  if (problem !== undefined) {
    console.error(problem)
    return 1
  }
  const archives = readdirSync(packed).filter((file) => file.endsWith('.tgz'))
  for (const archive of archives.toSorted()) {
    const path = join(packed, archive)
    const { name, version } = JSON.parse(run('tar', ['-xzOf', path, 'package/package.json']))
    const id = `${name}@${version}`
    if (isPublished(id)) {
      console.log(`${id} is in the registry already`)
      continue
    }
    run('npm', ['publish', path, '--ignore-scripts', '--access', 'public', '--loglevel', 'error'])
    run('git', ['tag', '--force', id])
    console.log(`${id} is published`)
  }
  return 0
}

/** Returns true if the registry has a version of a package. */
function isPublished(id) {
  const { stdout, stderr } = spawnSync('npm', ['view', id, 'version', '--json'], { cwd: root, encoding: 'utf8' })
  const answer = stdout.trim() === '' ? undefined : JSON.parse(stdout)
  if (answer?.error !== undefined && answer.error.code !== 'E404')
    throw new Error(`npm view ${id} failed: ${answer.error.summary ?? stderr}`)
  return answer !== undefined && answer.error === undefined
}

/** Returns the reason why the configured registry must not receive the packages, or undefined. */
function findTargetProblem() {
  const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { hostname, pathname } = new URL(homepage)
  const scoped = run('npm', ['config', 'get', '@x:registry'])
  const registry = scoped === 'undefined' ? run('npm', ['config', 'get', 'registry']) : scoped
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(registry).hostname)
  if (isLocal || !hostname.endsWith('.example')) return undefined
  return [
    `${homepage}, the "homepage" in package.json, is a placeholder, so no package is published.`,
    'Put the URL of the repository into "homepage", "bugs" and "repository" of package.json and of every',
    'packages/*/package.json, and into the links of READMEs and SECURITY.md. One command replaces all of them:',
    `  git grep -l '${hostname}${pathname}' | xargs sed -i 's#${hostname}${pathname}#<host>/<path of the repository>#g'`,
  ].join('\n')
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  return stdout.trim()
}
