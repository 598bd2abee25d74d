import { serveParent } from '../fleet/child.ts'
import { serveEmulator } from './serve-emulator.ts'

// Runs the emulator as a process of its own, so that every instance of the server shares it.

const { AZURE_DEVOPS_ORG: organization = '', AZURE_DEVOPS_PROJECT: project = '' } = process.env
const { AZURE_DEVOPS_TOKEN: token = '', EMULATOR_WRITE_MS } = process.env
const emulator = await serveEmulator({ organization, project, token, writeMs: Number(EMULATOR_WRITE_MS) })
serveParent(Number(new URL(emulator.url).port), emulator.close)
