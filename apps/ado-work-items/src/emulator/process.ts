import { serveParent } from '../fleet/child.ts'
import { readSeed } from './seed.ts'
import { serveEmulator } from './serve-emulator.ts'

// Runs the emulator as a process of its own, so that every instance of the server shares it.

const { EMULATOR_ORGANIZATION: organization, EMULATOR_PROJECT: project, EMULATOR_TOKEN: token } = process.env
if (!organization || !project || !token) throw new Error('EMULATOR_ORGANIZATION, _PROJECT and _TOKEN should be set')

const writeMs = Number(process.env['EMULATOR_WRITE_MS'] ?? 0)
const emulator = await serveEmulator({ organization, project, token, seed: readSeed(), writeMs })
serveParent(Number(new URL(emulator.url).port), emulator.close)
