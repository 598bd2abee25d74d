import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { install, measureInstall } from './install.ts'
import { packPackages } from './packed-packages.ts'

const installs: readonly (readonly [string, readonly string[]])[] = [
  ['an HTTP server', ['@x/server', '@x/transport-http']],
  ['an HTTP client', ['@x/client', '@x/transport-http']],
  ['a stdio server', ['@x/server', '@x/transport-stdio']],
  ['a server alone', ['@x/server']],
]

const folder = await mkdtemp(join(tmpdir(), 'installed-'))
try {
  const packed = await packPackages(`${folder}/tarballs`)
  for (const [title, names] of installs) {
    const target = `${folder}/${names.join('+').replaceAll('/', '-')}`
    await install(target, names, packed)
    const { packages, bytes } = await measureInstall(target)
    process.stdout.write(
      `${title} (npm install ${names.join(' ')}): ${packages.length} packages, ${kilobytes(bytes)} KB\n`,
    )
    process.stdout.write(`  ${packages.join(', ')}\n`)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

function kilobytes(bytes: number): string {
  return Math.round(bytes / 1024).toLocaleString('en')
}
