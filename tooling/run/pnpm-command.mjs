import { pnpm } from './pnpm.mjs'

// The pinned pnpm, for shells: node tooling/run/pnpm-command.mjs install
process.exitCode = await pnpm(process.argv.slice(2))
