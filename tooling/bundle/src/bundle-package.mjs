#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { bundlePackage } from './bundle.mjs'
import { copyGuide } from './copy-guide.mjs'

const { values } = parseArgs({ options: { guide: { type: 'string', multiple: true, default: [] } } })

await bundlePackage(process.cwd())
for (const name of values.guide) await copyGuide(process.cwd(), name)
