import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { PGlite } from '@electric-sql/pglite'

/** The data of an empty database. The build writes the file, because `initdb` is the slowest step of a start. */
const file = new URL('./initial-database.tar.gz', import.meta.url)

/** Writes the data of an empty database beside the built modules. */
export async function writeInitialDatabase(): Promise<void> {
  const database = await PGlite.create()
  const data = await database.dumpDataDir('gzip')
  await database.close()
  await writeFile(file, Buffer.from(await data.arrayBuffer()))
}

/** Opens an empty database in the memory of this process. */
export async function openInitialDatabase(): Promise<PGlite> {
  if (!existsSync(file)) return PGlite.create()
  return PGlite.create({ loadDataDir: new Blob([await readFile(file)], { type: 'application/x-gzip' }) })
}
