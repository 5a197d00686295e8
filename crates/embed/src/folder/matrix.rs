//! Products of matrices, which take nearly all the time of a forward pass.
//!
//! The right side is packed once into panels of [`WIDTH`] columns, the left side into blocks of
//! [`HEIGHT`] rows; a block times a panel stays in registers. The loops are written so that the
//! compiler turns them into vector instructions of the processor that the build is for.
//!
//! Not here: what the numbers mean.

/// Columns of a panel: two vectors of four.
const WIDTH: usize = 8;
/// Rows of a block. With the columns of a panel they fill the sixteen vector registers of x86-64.
const HEIGHT: usize = 4;

/// The right side of a product, packed.
#[derive(Debug)]
pub(super) struct Panels {
    depth: usize,
    columns: usize,
    packed: Vec<[f32; WIDTH]>,
}

impl Panels {
    /// Packs the matrix with the entry `at(k, column)` in row `k`. Missing columns of the last panel are zero.
    pub(super) fn new(depth: usize, columns: usize, at: impl Fn(usize, usize) -> f32) -> Self {
        let mut packed = Vec::with_capacity(depth * columns.div_ceil(WIDTH));
        for start in (0..columns).step_by(WIDTH) {
            let row = |k| {
                std::array::from_fn(|n| match start + n {
                    column if column < columns => at(k, column),
                    _ => 0.0,
                })
            };
            packed.extend((0..depth).map(row));
        }
        Self {
            depth,
            columns,
            packed,
        }
    }

    /// How many rows the right side has.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

/// The left side of a product, packed.
#[derive(Debug)]
pub(super) struct Blocks {
    depth: usize,
    rows: usize,
    packed: Vec<[f32; HEIGHT]>,
}

impl Blocks {
    /// Packs the rows of `depth` entries that `matrix` has one after another.
    pub(super) fn of(matrix: &[f32], depth: usize) -> Self {
        Self::new(matrix.len() / depth, depth, |row, k| {
            matrix[row * depth + k]
        })
    }

    /// Packs the matrix with the entry `at(row, k)`. Missing rows of the last block are zero.
    pub(super) fn new(rows: usize, depth: usize, at: impl Fn(usize, usize) -> f32) -> Self {
        let mut packed = Vec::with_capacity(depth * rows.div_ceil(HEIGHT));
        for start in (0..rows).step_by(HEIGHT) {
            let column = |k| {
                std::array::from_fn(|n| match start + n {
                    row if row < rows => at(row, k),
                    _ => 0.0,
                })
            };
            packed.extend((0..depth).map(column));
        }
        Self {
            depth,
            rows,
            packed,
        }
    }

    /// The product of the two sides, row by row.
    pub(super) fn times(&self, panels: &Panels) -> Vec<f32> {
        assert_eq!(self.depth, panels.depth, "the sides of a product fit");
        let columns = panels.columns;
        let mut product = vec![0.0; self.rows * columns];
        if product.is_empty() || self.depth == 0 {
            return product;
        }
        // A panel stays in the nearest cache while all blocks pass by.
        for (panel, first) in panels
            .packed
            .chunks_exact(self.depth)
            .zip((0..).step_by(WIDTH))
        {
            let width = WIDTH.min(columns - first);
            for (block, top) in self
                .packed
                .chunks_exact(self.depth)
                .zip((0..).step_by(HEIGHT))
            {
                let tile = tile(block, panel);
                let height = HEIGHT.min(self.rows - top);
                for (row, sums) in tile.iter().take(height).enumerate() {
                    let start = (top + row) * columns + first;
                    product[start..start + width].copy_from_slice(&sums[..width]);
                }
            }
        }
        product
    }
}

#[inline]
fn tile(block: &[[f32; HEIGHT]], panel: &[[f32; WIDTH]]) -> [[f32; WIDTH]; HEIGHT] {
    let mut sums = [[0.0; WIDTH]; HEIGHT];
    for (left, right) in block.iter().zip(panel) {
        for (sums, left) in sums.iter_mut().zip(left) {
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum += left * right;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_any_size_is_the_sum_over_the_depth() {
        for (rows, depth, columns) in [(1, 1, 1), (4, 8, 8), (5, 3, 9), (7, 2, 17), (0, 3, 2)] {
            let left = |row: usize, k: usize| (row * 3 + k) as f32;
            let right = |k: usize, column: usize| k as f32 - column as f32;
            let product = Blocks::new(rows, depth, left).times(&Panels::new(depth, columns, right));
            let expected: Vec<f32> = (0..rows * columns)
                .map(|at| (at / columns, at % columns))
                .map(|(row, column)| (0..depth).map(|k| left(row, k) * right(k, column)).sum())
                .collect();
            assert_eq!(product, expected, "{rows} {depth} {columns}");
        }
    }
}
