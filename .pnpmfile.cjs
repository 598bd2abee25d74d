const { readFileSync } = require('node:fs')
const { join } = require('node:path')

/**
 * Published peers accept the minor version that they were tested with: `^0.1.0`. In the workspace they accept every
 * version before 1.0, because Changesets would make a minor version of a peer a major version of its dependents.
 */
function beforePacking(manifest) {
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter((name) => name.startsWith('@x/'))
  for (const name of peers) {
    const { version } = JSON.parse(readFileSync(join(__dirname, 'packages', name.slice(3), 'package.json'), 'utf8'))
    manifest.peerDependencies[name] = `^${version}`
  }
  return manifest
}

module.exports = { hooks: { beforePacking } }
