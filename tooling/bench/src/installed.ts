import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { install, measureInstall } from '@tooling/e2e/dist/installed/install.js'
import { packPackages } from '@tooling/e2e/dist/installed/packed-packages.js'
import { ceilings } from './ceilings.ts'
import { installPeers } from './peers.ts'

const peers: readonly (readonly [string, readonly string[]])[] = [
  ['official, a stdio server', ['@modelcontextprotocol/server', 'zod']],
  ['official, an HTTP server', ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod']],
  ['official, a client', ['@modelcontextprotocol/client']],
]

/**
 * Counts the packages and bytes in `node_modules` after `npm install` of the packages of a server or a client. It
 * counts the same for the official SDK.
 *
 * Method: packages are packed as they are published and installed into empty folders. The bytes are those of all files.
 * Not measured: the blocks that a file occupies on a disk.
 */
export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'installed-'))
  try {
    const packed = await packPackages(`${folder}/tarballs`)
    for (const [index, { title, names }] of ceilings.entries()) {
      await install(`${folder}/ours-${index}`, names, packed)
      await printInstall(title, names, `${folder}/ours-${index}`)
    }
    for (const [index, [title, names]] of peers.entries()) {
      await installPeers(`${folder}/peer-${index}`, names)
      await printInstall(title, names, `${folder}/peer-${index}`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function printInstall(title: string, names: readonly string[], folder: string): Promise<void> {
  const { packages, bytes } = await measureInstall(folder)
  const size = `${(bytes / 1e6).toFixed(2).padStart(6)} MB, ${String(packages.length).padStart(2)} packages`
  process.stdout.write(`${title.padEnd(26)} ${size}  npm install ${names.join(' ')}\n`)
  process.stdout.write(`  ${packages.join(', ')}\n`)
}
