import type { Command } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'
import type { MigrateOptions } from '../migrate/migrate-files.ts'

/** Creates the command `migrate`. */
export function migrateCommand(host: CommandHost): Command {
  return createCommand<MigrateOptions>(
    host,
    {
      usage: 'migrate <files...>',
      description:
        'Rewrites servers of the official TypeScript SDK to these packages: prints the difference, and the places that ' +
        'are left to you. Needs the package ts-morph: npx -p @x/cli -p ts-morph@28 mcpx migrate FILE',
      example: 'migrate src/server.ts --write',
    },
    async () => (await import('../migrate/migrate-files.ts')).migrateFiles,
  ).option('--write', 'write the files')
}
