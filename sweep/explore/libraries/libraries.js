// What the page uses of Mosaic (linked views over DuckDB) and of d3 (axes, brushes, scales, colours); rebuild.sh bundles it.
export { Coordinator, Selection, clauseInterval, clauseIntervals, clausePoints, makeClient } from "@uwdata/mosaic-core";
export { Query, column, desc, eq, literal, sum } from "@uwdata/mosaic-sql";
export { axisBottom, axisLeft } from "d3-axis";
export { brush, brushX } from "d3-brush";
export { format } from "d3-format";
export { scaleLinear, scaleLog } from "d3-scale";
export { interpolateCividis } from "d3-scale-chromatic";
export { select } from "d3-selection";
