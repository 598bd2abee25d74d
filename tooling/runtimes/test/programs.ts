import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The folders of a runtime's programs by platform, and the program's path in its package. */
interface PlatformPackages {
  readonly path: string
  readonly packages: Readonly<Record<string, string>>
}

// The packages with the programs are installed as they are: no script of a package downloads or links anything.
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

/** Returns the path of a runtime's program. Throws where the runtime has none for this platform: nothing is skipped. */
export function programOf(runtime: keyof typeof platformPackages): string {
  const { path, packages }: PlatformPackages = platformPackages[runtime]
  const name = packages[`${process.platform}-${process.arch}`]
  if (name === undefined) throw new Error(`${runtime} has no program for ${process.platform} ${process.arch}`)
  const own = createRequire(import.meta.url).resolve(`${runtime}/package.json`)
  return join(dirname(createRequire(own).resolve(`${name}/package.json`)), path)
}
