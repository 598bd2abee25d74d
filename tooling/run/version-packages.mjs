import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pnpm, root } from './pnpm.mjs'

const changesets = join(root, '.changeset')

acceptNewPeers()
process.exitCode = await pnpm(['exec', 'changeset', 'version'])

/**
 * Adds a patch version for each package whose published range excludes the next version of a peer, so that users can
 * install both.
 */
function acceptNewPeers() {
  const packages = readPackages()
  const bumps = readBumps()
  const isBreaking = (name) => {
    const isUnstable = packages.get(name)?.version.startsWith('0.')
    return bumps.get(name)?.has('major') || (isUnstable && bumps.get(name)?.has('minor'))
  }
  for (const [name, { peers }] of packages) {
    const moved = peers.filter(isBreaking)
    if (moved.length === 0 || bumps.has(name)) continue
    const text = `---\n'${name}': patch\n---\n\nAccepts the new version of ${moved.join(' and ')}.\n`
    writeFileSync(join(changesets, `peers-of-${name.slice(3)}.md`), text)
  }
}

/** Returns the kinds of bumps that the changesets give to each package. */
function readBumps() {
  const bumps = new Map()
  for (const file of readdirSync(changesets).filter((one) => one.endsWith('.md') && one !== 'README.md')) {
    const [, head = ''] = readFileSync(join(changesets, file), 'utf8').split('---')
    for (const [, name, bump] of head.matchAll(/^['"]?([^'":]+)['"]?: *(\w+)/gm))
      bumps.set(name, (bumps.get(name) ?? new Set()).add(bump))
  }
  return bumps
}

function readPackages() {
  const folder = join(root, 'packages')
  return new Map(
    readdirSync(folder).map((one) => {
      const {
        name,
        version,
        peerDependencies = {},
      } = JSON.parse(readFileSync(join(folder, one, 'package.json'), 'utf8'))
      return [name, { version, peers: Object.keys(peerDependencies).filter((peer) => peer.startsWith('@x/')) }]
    }),
  )
}
