#!/usr/bin/env node
import { bundlePackage } from './bundle.mjs'

await bundlePackage(process.cwd())
