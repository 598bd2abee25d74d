import { copyFile, mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { install, type InstalledSize, measureInstall } from '@tooling/e2e/dist/installed/install.js'
import { packPackages } from '@tooling/e2e/dist/installed/packed-packages.js'
import type { Program } from '../cold/start-server.ts'
import { installPeers } from '../installed/peer-install.ts'
import { callOfRevision, type PeerProgram, programs } from './programs.ts'

/** A program in a folder with its packages. */
export interface InstalledProgram extends PeerProgram {
  readonly program: Program
  readonly size: InstalledSize
}

/** Installs the packages of each program into its own folder with npm, and copies the program into it. */
export async function installPrograms(root: string): Promise<readonly InstalledProgram[]> {
  const packed = await packPackages(join(root, 'tarballs'))
  const installed: InstalledProgram[] = []
  for (const [index, peer] of programs.entries()) {
    const folder = join(root, String(index))
    await mkdir(folder)
    const { file, packages, revision } = peer
    if (packages.some((name) => name.startsWith('@x/'))) await install(folder, packages, packed)
    else await installPeers(folder, packages)
    await copyFile(new URL(`../${file}`, import.meta.url), join(folder, basename(file)))
    const size = packages.length === 0 ? { packages: [], bytes: 0 } : await measureInstall(folder)
    const program = { folder, file: basename(file), call: callOfRevision(revision) }
    installed.push({ ...peer, program, size })
  }
  return installed
}
