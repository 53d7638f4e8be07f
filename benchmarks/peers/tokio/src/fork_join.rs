// A function that spawns itself has to say that its future is Send: no `async fn`.
#![allow(clippy::manual_async_fn)]

use std::array;
use std::future::Future;
use std::slice;

pub fn fib(n: u64) -> impl Future<Output = u64> + Send {
    async move {
        if n < 2 {
            return n;
        }
        let left = tokio::spawn(fib(n - 1));
        let right = Box::pin(fib(n - 2)).await;
        left.await.unwrap() + right
    }
}

pub fn fib_value(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

pub fn fib_calls(n: u64) -> u64 {
    2 * fib_value(n + 1) - 1
}

/// The sum of the leaves `first..first + size`.
pub fn skynet(first: u64, size: u64) -> impl Future<Output = u64> + Send {
    async move {
        if size == 1 {
            return first;
        }
        let child = size / 10;
        let children: [_; 10] =
            array::from_fn(|i| tokio::spawn(skynet(first + i as u64 * child, child)));
        let mut sum = 0;
        for child in children {
            sum += child.await.unwrap();
        }
        sum
    }
}

pub fn skynet_tasks(leaves: u64) -> u64 {
    (10 * leaves - 1) / 9
}

/// The number of solutions for boards of 0 to 16 columns.
pub const QUEENS: [u64; 17] = [
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512,
];

/// The number of solutions with the queens of the first `row` rows at `board[..row]`.
pub fn queens(board: [u8; 16], row: usize, size: usize) -> impl Future<Output = u64> + Send {
    async move {
        if row == size {
            return 1;
        }
        let children: [_; 16] = array::from_fn(|column| {
            (column < size && is_free(&board[..row], column)).then(|| {
                let mut board = board;
                board[row] = column as u8;
                tokio::spawn(queens(board, row + 1, size))
            })
        });
        let mut solutions = 0;
        for child in children.into_iter().flatten() {
            solutions += child.await.unwrap();
        }
        solutions
    }
}

fn is_free(board: &[u8], column: usize) -> bool {
    board.iter().rev().zip(1..).all(|(&queen, distance)| {
        let queen = usize::from(queen);
        queen != column && queen + distance != column && queen != column + distance
    })
}

/// A square part of a matrix in row order.
#[derive(Clone, Copy)]
struct Block {
    data: *mut i32,
    stride: usize,
}

// SAFETY: tasks that run at the same time write different blocks.
unsafe impl Send for Block {}

impl Block {
    /// SAFETY: the block has so many rows and columns.
    unsafe fn part(self, row: usize, column: usize) -> Block {
        Block {
            data: self.data.add(row * self.stride + column),
            ..self
        }
    }

    /// SAFETY: as for `part`, and nobody else writes the row.
    unsafe fn row<'a>(self, row: usize, size: usize) -> &'a [i32] {
        slice::from_raw_parts(self.data.add(row * self.stride), size)
    }

    /// SAFETY: as for `part`, and nobody else uses the row.
    unsafe fn row_mut<'a>(self, row: usize, size: usize) -> &'a mut [i32] {
        slice::from_raw_parts_mut(self.data.add(row * self.stride), size)
    }
}

/// c += a * b.
///
/// SAFETY: the blocks have `size` rows and columns, a power of two times at most 32, and live
/// until the future is done; nobody else uses `c` or writes `a` or `b`.
unsafe fn multiply(a: Block, b: Block, c: Block, size: usize) -> impl Future<Output = ()> + Send {
    async move {
        if size <= 32 {
            return unsafe { multiply_plain(a, b, c, size) };
        }
        let half = size / 2;
        for k in [0, half] {
            let product =
                move |i, j| unsafe { multiply(a.part(i, k), b.part(k, j), c.part(i, j), half) };
            let forked = [(0, 0), (0, half), (half, 0)].map(|(i, j)| tokio::spawn(product(i, j)));
            Box::pin(product(half, half)).await;
            for product in forked {
                product.await.unwrap();
            }
        }
    }
}

/// SAFETY: as for `multiply`.
unsafe fn multiply_plain(a: Block, b: Block, c: Block, size: usize) {
    for i in 0..size {
        let c_row = c.row_mut(i, size);
        for (k, &factor) in a.row(i, size).iter().enumerate() {
            for (sum, &value) in c_row.iter_mut().zip(b.row(k, size)) {
                *sum = sum.wrapping_add(factor.wrapping_mul(value));
            }
        }
    }
}

pub struct Matrices {
    a: Block,
    b: Block,
    c: Block,
    size: usize,
    /// The sums of the rows of a * b.
    sums: Vec<i32>,
}

// SAFETY: multiplications run one after the other.
unsafe impl Sync for Matrices {}

impl Matrices {
    pub fn leak(size: usize) -> &'static Matrices {
        let block = |value: fn(usize) -> usize| {
            let values: Vec<i32> = (0..size * size).map(|i| value(i) as i32).collect();
            Block {
                data: values.leak().as_mut_ptr(),
                stride: size,
            }
        };
        let (a, b, c) = (
            block(|i| i * 7 % 101),
            block(|i| i * 13 % 103),
            block(|_| 0),
        );
        let b_sums: Vec<i32> = (0..size)
            .map(|row| unsafe { b.row(row, size) }.iter().sum())
            .collect();
        let dot = |row: &[i32]| {
            row.iter()
                .zip(&b_sums)
                .fold(0i32, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)))
        };
        let sums = (0..size)
            .map(|row| dot(unsafe { a.row(row, size) }))
            .collect();
        Box::leak(Box::new(Matrices {
            a,
            b,
            c,
            size,
            sums,
        }))
    }

    pub async fn multiply(&self) {
        for row in 0..self.size {
            unsafe { self.c.row_mut(row, self.size) }.fill(0);
        }
        unsafe { multiply(self.a, self.b, self.c, self.size) }.await;
        for (row, expected) in self.sums.iter().enumerate() {
            let values = unsafe { self.c.row(row, self.size) };
            assert_eq!(
                values.iter().fold(0i32, |sum, x| sum.wrapping_add(*x)),
                *expected
            );
        }
    }
}
