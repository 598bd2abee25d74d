import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The packages of a runtime by platform, and the path of the program in its package. */
interface PlatformPackages {
  readonly path: string
  readonly packages: Readonly<Record<string, string>>
}

// These packages contain the programs, so no install script has to download or link them.
const platformPackages = {
  bun: {
    path: 'bin/bun',
    packages: {
      'linux-x64': '@oven/bun-linux-x64',
      'linux-arm64': '@oven/bun-linux-aarch64',
      'darwin-x64': '@oven/bun-darwin-x64',
      'darwin-arm64': '@oven/bun-darwin-aarch64',
    },
  },
  deno: {
    path: 'deno',
    packages: {
      'linux-x64': '@deno/linux-x64-glibc',
      'linux-arm64': '@deno/linux-arm64-glibc',
      'darwin-x64': '@deno/darwin-x64',
      'darwin-arm64': '@deno/darwin-arm64',
    },
  },
  workerd: {
    path: 'bin/workerd',
    packages: {
      'linux-x64': '@cloudflare/workerd-linux-64',
      'linux-arm64': '@cloudflare/workerd-linux-arm64',
      'darwin-x64': '@cloudflare/workerd-darwin-64',
      'darwin-arm64': '@cloudflare/workerd-darwin-arm64',
    },
  },
} as const satisfies Record<string, PlatformPackages>

/**
 * Returns the path of a runtime's program. Throws if the runtime has none for this platform, so that no test is
 * skipped.
 */
export function programOf(runtime: keyof typeof platformPackages): string {
  const { path, packages }: PlatformPackages = platformPackages[runtime]
  const name = packages[`${process.platform}-${process.arch}`]
  if (name === undefined) throw new Error(`${runtime} has no program for ${process.platform} ${process.arch}`)
  const own = createRequire(import.meta.url).resolve(`${runtime}/package.json`)
  return join(dirname(createRequire(own).resolve(`${name}/package.json`)), path)
}
